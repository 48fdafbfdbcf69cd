package main

import "slices"

// binary is one program of the module.
type binary struct {
	name string // file name of the build
	path string // package, below the module root
	tags string // build tags; none in anything that is shipped
}

var (
	managerBinary  = binary{name: "manager", path: "./cmd/manager"}
	executorBinary = binary{name: "executor", path: "./cmd/executor"}
	pluginBinary   = binary{name: "kubectl-ptah", path: "./cmd/kubectl-ptah"}

	failpointsBinary = binary{name: "manager-failpoints", path: "./cmd/manager", tags: "failpoints"}
	idleBinary       = binary{name: "engine-idle", path: "./test/rig/idleengine"}
)

// image is what one image holds.
type image struct {
	name       string
	title      string
	files      []imageFile
	entrypoint []string
}

type imageFile struct {
	path   string
	binary binary
}

// images lists every image. The manager's also carries the runner, because operation Pods install it from there.
var images = []image{
	{
		name: "manager", title: "Ptah operator",
		files:      []imageFile{{"/manager", managerBinary}, {"/ptah-runner", executorBinary}},
		entrypoint: []string{"/manager"},
	},
	{
		name: "executor", title: "Ptah executor",
		files:      []imageFile{{"/ptah-engine", executorBinary}},
		entrypoint: []string{"/ptah-engine"},
	},
	{
		name: "kubectl-ptah", title: "Ptah kubectl plugin",
		files:      []imageFile{{"/kubectl-ptah", pluginBinary}},
		entrypoint: []string{"/kubectl-ptah"},
	},
}

// variants are images for the end-to-end tests: a manager that a test can make die at a chosen write, and an executor that lies. They are
// made only where --only names them, and never released.
var variants = []image{
	{
		name: "manager-failpoints", title: "Ptah operator, for tests only: it dies where a test tells it to",
		files:      []imageFile{{"/manager", failpointsBinary}},
		entrypoint: []string{"/manager"},
	},
	{
		name: "executor-idle", title: "Ptah executor, for tests only: its Apply does nothing and says that it did",
		files:      []imageFile{{"/ptah-engine", idleBinary}},
		entrypoint: []string{"/ptah-engine"},
	},
}

// chosen are the images that a run makes: all that are shipped, or exactly the named ones.
func chosen(only []string) []image {
	if len(only) == 0 {
		return images
	}
	var out []image
	for _, i := range slices.Concat(images, variants) {
		if slices.Contains(only, i.name) {
			out = append(out, i)
		}
	}
	return out
}

func imageNamed(name string) (image, bool) {
	for _, i := range slices.Concat(images, variants) {
		if i.name == name {
			return i, true
		}
	}
	return image{}, false
}
