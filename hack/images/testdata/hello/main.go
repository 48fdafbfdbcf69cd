// Command hello is what the image builder's tests build: as small as a Go program gets.
package main

import "github.com/ptah-run/ptah/pkg/release"

func main() { println(release.Version, release.Revision) }
