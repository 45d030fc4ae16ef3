//go:build unix && !linux

package postgres

import "syscall"

// attributes gives the server a process group of its own. Other systems than Linux have no parent-death signal: a
// server left behind is stopped at the next start.
func (p place) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if p.account != nil {
		attr.Credential = &syscall.Credential{Uid: p.account.uid, Gid: p.account.gid}
	}
	return attr
}

// mayBypass gives false: only Linux has ambient capabilities.
func mayBypass() bool { return false }
