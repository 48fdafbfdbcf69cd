//go:build unix && !linux

package devserver

import "syscall"

func tie(*syscall.SysProcAttr) {}
