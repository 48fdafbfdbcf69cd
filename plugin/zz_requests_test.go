package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestZZRequests(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	files, _ := filepath.Glob("testdata/*/*/case.yaml")
	seen := map[string][]string{}
	ns := regexp.MustCompile(`/namespaces/[^/]+/`)
	for _, file := range files {
		s := readScenario(t, file)
		if s.Cluster == "" || s.Unreachable {
			continue
		}
		server := &stubServer{}
		server.load(t, readCluster(t, s.Cluster), s)
		if s.Becomes != "" {
			server.later(t, readCluster(t, s.Cluster), readCluster(t, s.Becomes))
		}
		s.run(t, server)
		words := strings.Fields(s.Command)
		for _, r := range server.current.requests {
			method, path, _ := strings.Cut(r, " ")
			namespaced := ns.MatchString(path)
			path = ns.ReplaceAllString(path, "/")
			parts := strings.Split(strings.Trim(path, "/"), "/")
			key := method + " " + path
			if len(parts) >= 2 {
				resource := parts[len(parts)-1]
				verb := method
				i := 3
				if parts[0] == "api" {
					i = 2
				}
				if len(parts) > i {
					resource = parts[i]
					switch {
					case method == "GET" && len(parts) > i+1:
						verb = "get"
						if len(parts) > i+2 {
							resource += "/" + parts[i+2]
						}
					case method == "GET":
						verb = "list"
					}
				}
				key = fmt.Sprintf("%s %s ns=%t", verb, resource, namespaced)
			}
			if !slices.Contains(seen[words[0]], key) {
				seen[words[0]] = append(seen[words[0]], key)
			}
		}
	}
	for command, keys := range seen {
		slices.Sort(keys)
		fmt.Println("##", command)
		for _, k := range keys {
			fmt.Println("   ", k)
		}
	}
}
