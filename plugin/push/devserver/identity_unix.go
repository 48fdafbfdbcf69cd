//go:build unix

package devserver

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// identity is the user that the server runs as; the zero value is the invoking user.
type identity struct {
	uid, gid uint32
	other    bool
}

// unprivileged finds a user for the server. PostgreSQL refuses to run as root, so root hands over to postgres or nobody.
func unprivileged() (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return identity{uid: uint32(uid), gid: uint32(gid), other: true}, nil
		}
	}
	return identity{}, errors.New("starting a disposable PostgreSQL: it does not run as root, and there is neither a user postgres nor a user nobody")
}

func (i identity) own(path string) error {
	if !i.other {
		return nil
	}
	return os.Chown(path, int(i.uid), int(i.gid))
}

// apply also puts the child into a process group of its own: Ctrl-C reaches us, and we stop the server in order.
func (i identity) apply(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tie(command.SysProcAttr)
	if i.other {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: i.uid, Gid: i.gid, Groups: []uint32{}}
	}
}
