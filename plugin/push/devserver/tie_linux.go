package devserver

import "syscall"

// tie lets the server shut down when this process dies without having been able to stop it.
func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGINT }
