package main

// binary is one program of the module.
type binary struct {
	name string // file name of the build
	path string // package, below the module root
}

var (
	managerBinary  = binary{"manager", "./cmd/manager"}
	executorBinary = binary{"executor", "./cmd/executor"}
	pluginBinary   = binary{"kubectl-ptah", "./cmd/kubectl-ptah"}
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

func imageNamed(name string) (image, bool) {
	for _, i := range images {
		if i.name == name {
			return i, true
		}
	}
	return image{}, false
}
