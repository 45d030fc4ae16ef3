package journal

import "golang.org/x/sys/unix"

// identity tells an open file or directory from all others. The zero value is of one that the system does not tell.
type identity struct {
	device [2]uint32
	inode  uint64
}

// identityOf is the identity of an open file or directory.
func identityOf(open interface{ Fd() uintptr }) identity {
	out, err := identify(int(open.Fd()), "", unix.AT_EMPTY_PATH) //nolint:gosec // a small number
	if err != nil {
		return identity{}
	}
	return out
}

// isAt reports whether a path leads to it; true when the system does not tell.
func (i identity) isAt(path string) bool {
	if i == (identity{}) {
		return true
	}
	there, err := identify(unix.AT_FDCWD, path, 0)
	return err == nil && there == i
}

// identify asks for the identity alone. Whoever asks for the times of a file as well, as os.Stat does, makes the system
// note the exact time of its next write, which becomes slower by that.
func identify(at int, path string, flags int) (identity, error) {
	var told unix.Statx_t
	if err := unix.Statx(at, path, flags, unix.STATX_INO, &told); err != nil {
		return identity{}, err
	}
	return identity{[2]uint32{told.Dev_major, told.Dev_minor}, told.Ino}, nil
}
