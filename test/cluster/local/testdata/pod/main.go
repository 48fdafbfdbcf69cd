// Pod is what the integration test runs in a Pod: it resolves and dials names of the cluster and prints what it got.
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	for _, address := range os.Args[1:] {
		if err := try(address); err != nil {
			fmt.Println("ERROR", err)
			os.Exit(1)
		}
	}
}

func try(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	found, err := net.LookupHost(host)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return err
	}
	fmt.Println(address, "is", found, "and answers")
	return conn.Close()
}
