package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Disk is a file system of its own, of which everything is lost in an instant that no fsync has brought to its device:
// as in a power cut of the host, except that the device itself forgets nothing that it was given.
type Disk struct {
	Dir    string // where it is mounted
	t      testing.TB
	device string
}

// diskBytes is the size of a disk; its file takes what is written.
const diskBytes = 2 << 30

// ext4Shutdown is the request EXT4_IOC_SHUTDOWN of ioctl, and noFlush its argument: not even the journal is written.
const (
	ext4Shutdown = 0x8004587d
	noFlush      = 2
)

// NewDisk makes a disk and mounts it until the end of the test. The test is skipped where the program may not mount,
// as in most containers, or has not the means.
func NewDisk(t testing.TB) *Disk {
	t.Helper()
	_, err := exec.LookPath("mkfs.ext4")
	_, missing := os.Stat("/dev/loop-control")
	if os.Geteuid() != 0 || err != nil || missing != nil {
		t.Skip("a file system of its own needs root, mkfs.ext4 and loop devices")
	}
	image := filepath.Join(Dir(t), "disk.img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, diskBytes); err != nil {
		t.Fatal(err)
	}
	d := &Disk{t: t, Dir: t.TempDir()}
	d.run("mkfs.ext4", "-q", "-F", image)
	device, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("no loop device: %v", err)
	}
	d.device = strings.TrimSpace(string(device))
	t.Cleanup(func() { d.run("losetup", "--detach", d.device) })
	if err := d.mount(); errors.Is(err, unix.EPERM) {
		t.Skipf("no right to mount: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.unmount)
	return d
}

// run runs a program of the system and gives what it prints.
func (d *Disk) run(name string, args ...string) string {
	d.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

// mount mounts the file system, which reads its journal first if it was cut.
func (d *Disk) mount() error {
	if err := unix.Mount(d.device, d.Dir, "ext4", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", d.device, err)
	}
	return os.Chmod(d.Dir, 0o755) //nolint:gosec // the server's user must get through
}

// unmount waits for the programs that have its files open, which must be ending.
func (d *Disk) unmount() {
	d.t.Helper()
	var err error
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		if err = unix.Unmount(d.Dir, 0); err == nil {
			return
		}
	}
	d.t.Fatalf("unmount %s: %v", d.Dir, err)
}

// Cut ends all writing at once. Programs get errors from now on.
func (d *Disk) Cut() {
	d.t.Helper()
	root, err := os.Open(d.Dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	flags := uint32(noFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, root.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&flags)))
	if errno != 0 {
		d.t.Fatalf("cut the power of %s: %v", d.Dir, errno)
	}
}

// Restore mounts what has survived. The programs that had files open must have ended.
func (d *Disk) Restore() {
	d.t.Helper()
	d.unmount()
	if err := d.mount(); err != nil {
		d.t.Fatal(err)
	}
}
