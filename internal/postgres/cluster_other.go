//go:build unix && !linux

package postgres

import "syscall"

// attributes are those of the server process. Without Linux there is no parent-death signal: a server left behind is
// stopped at the next start.
func (p place) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if p.account != nil {
		attr.Credential = &syscall.Credential{Uid: p.account.uid, Gid: p.account.gid}
	}
	return attr
}

// mayBypass is false: ambient capabilities are Linux's.
func mayBypass() bool { return false }
