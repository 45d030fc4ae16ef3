package postgres

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// capDACOverride lets a process pass by file permissions (capability 1).
const capDACOverride = 1

// attributes gives the server a process group of its own, so that Ctrl-C reaches this program alone; a fast shutdown
// when this program dies; another user when this program runs as root.
func (p place) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if p.account != nil {
		attr.Credential = &syscall.Credential{Uid: p.account.uid, Gid: p.account.gid}
		if p.account.bypass {
			attr.AmbientCaps = []uintptr{capDACOverride}
		}
	}
	return attr
}

// mayBypass reports whether this program holds the capability. Root in a container may lack it.
func mayBypass() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for _, line := range strings.Split(string(status), "\n") {
		if mask, ok := strings.CutPrefix(line, "CapPrm:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits&(1<<capDACOverride) != 0
		}
	}
	return false
}
