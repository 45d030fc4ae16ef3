package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tightDisk has room for so many octets, which all its files share.
type tightDisk struct {
	mu       sync.Mutex
	room     int64
	reserved map[string]int64 // octets of a file that have their room
}

// tightFile is one file there. As a system does, it writes what there is room for before it fails.
type tightFile struct {
	diskFile
	disk *tightDisk
}

// open opens a file as the journal does.
func (d *tightDisk) open(path string, flags int) (file, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reserved == nil {
		d.reserved = map[string]int64{}
	}
	if flags&os.O_CREATE != 0 {
		delete(d.reserved, path)
	}
	return tightFile{diskFile{f}, d}, err
}

// left changes the room.
func (d *tightDisk) left(octets int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = octets
}

// room is how much of the disk the file has. The caller holds the disk's lock.
func (f tightFile) room() (int64, error) {
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return max(stat.Size(), f.disk.reserved[f.Name()]), nil
}

// Reserve takes all the room, or none.
func (f tightFile) Reserve(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	has, err := f.room()
	if err != nil {
		return err
	}
	if size-has > f.disk.room {
		return syscall.ENOSPC
	}
	f.disk.room -= max(0, size-has)
	f.disk.reserved[f.Name()] = max(size, has)
	return nil
}

// WriteAt takes room for what has none yet.
func (f tightFile) WriteAt(octets []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	has, err := f.room()
	if err != nil {
		return 0, err
	}
	var full error
	if more := at + int64(len(octets)) - has; more > f.disk.room {
		octets, full = octets[:max(0, int64(len(octets))-more+f.disk.room)], syscall.ENOSPC
	}
	f.disk.room -= max(0, at+int64(len(octets))-has)
	n, err := f.diskFile.WriteAt(octets, at)
	return n, errors.Join(err, full)
}

// Truncate gives room back.
func (f tightFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	has, err := f.room()
	if err != nil {
		return err
	}
	f.disk.room += has - size
	delete(f.disk.reserved, f.Name())
	return f.diskFile.Truncate(size)
}

// openTight opens a queue with segments of 100,000 octets until the end of the test.
func openTight(t *testing.T, disk *tightDisk, dir string) *Queue {
	t.Helper()
	q, err := OpenQueue(t.Context(), Config{Dir: dir, Segment: 100_000, open: disk.open})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// fillUp appends records of 1,000 octets until the disk takes no more, most of them at most.
func fillUp(t *testing.T, q *Queue, most int) (n int) {
	t.Helper()
	for ; n < most; n++ {
		if err := q.Append(bytes.Repeat([]byte("x"), 1000)); err != nil {
			if !isFull(err) {
				t.Fatal(err)
			}
			break
		}
	}
	return n
}

// TestJournal_ADiskThatFillsUpLeavesRoomForASegment: the database has taken all of the disk since the start.
func TestJournal_ADiskThatFillsUpLeavesRoomForASegment(t *testing.T) {
	t.Parallel()
	disk, dir := &tightDisk{room: 1 << 20}, t.TempDir()
	q := openTight(t, disk, dir)
	disk.left(0)
	if n := fillUp(t, q, 1000); n != 97 { // 97 records of 1,020 octets and the head
		t.Errorf("%d records", n)
	}
	records, places, err := q.Next(1000)
	if err != nil || len(records) != 97 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := q.Taken(places); err != nil {
		t.Fatal(err)
	}
	if n := fillUp(t, q, 50); n != 50 {
		t.Errorf("%d records in the room of those that were taken", n)
	}
	q.Close()
	q = openTight(t, disk, dir)
	if n := q.Len(); n != 50 {
		t.Errorf("%d records after a restart", n)
	}
	if n := fillUp(t, q, 1000); n != 47 {
		t.Errorf("%d more records after a restart on the full disk, want 47", n)
	}
	q.Close()
	if n := openTight(t, disk, dir).Len(); n != 97 {
		t.Errorf("%d records after another restart", n)
	}
}

// TestJournal_ANearlyFullDiskTakesWhatFits: the room was not there at the start either, and comes back in pieces.
func TestJournal_ANearlyFullDiskTakesWhatFits(t *testing.T) {
	t.Parallel()
	for _, atStart := range []int64{0, 5_000} {
		disk := &tightDisk{room: atStart}
		q := openTight(t, disk, t.TempDir())
		q.loops.Stop() // no zeros take the room again
		want := int(max(0, atStart-segmentHead) / 1020)
		if n := fillUp(t, q, 100); n != want {
			t.Errorf("%d octets at the start: %d records, want %d", atStart, n, want)
		}
		disk.left(30_000)
		if n := fillUp(t, q, 100); n < 28 {
			t.Errorf("%d octets at the start: %d records in 30,000 octets", atStart, n)
		}
		disk.left(1 << 20)
		if n := fillUp(t, q, 200); n != 200 {
			t.Errorf("%d octets at the start: %d records when there is room again", atStart, n)
		}
		records, _, err := q.Next(1000)
		if err != nil || len(records) != q.Len() {
			t.Errorf("%d records of %d, %v", len(records), q.Len(), err)
		}
	}
}

// hasOnDisk waits until the journal has so many octets of the disk.
func hasOnDisk(t *testing.T, q *Queue, want int64) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); q.Disk() != want; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d octets on the disk, want %d", q.Disk(), want)
		}
	}
}

// TestJournal_TheNextSegmentIsReadyBeforeItIsNeeded: records never make a file longer when the disk is quick enough.
func TestJournal_TheNextSegmentIsReadyBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	q := openTight(t, &tightDisk{room: 10 << 20}, t.TempDir())
	for round := range 5 {
		fillUp(t, q, 60) // more than half
		hasOnDisk(t, q, int64(round+2)*100_000)
		fillUp(t, q, 37)
	}
}

// TestJournal_AnOpenOneHasRoomBeforeItHasZeros: most programs start and stop without a record.
func TestJournal_AnOpenOneHasRoomBeforeItHasZeros(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		q, err := OpenQueue(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var is unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, "00000001"), &is); err != nil {
			t.Fatal(err)
		}
		if room := is.Blocks * 512; is.Size != 0 || room < usualSegment || q.Disk() != usualSegment {
			t.Errorf("%d octets are written, %d have room, and %d are told", is.Size, room, q.Disk())
		}
		q.Close()
	}
}

// TestJournal_RecordsSeldomMakeAFileLonger: what comes first brings zeros for those behind it.
func TestJournal_RecordsSeldomMakeAFileLonger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q, err := OpenQueue(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	lengths := map[int64]bool{}
	for range 1000 {
		fillUp(t, q, 1)
		stat, err := os.Stat(filepath.Join(dir, "00000001"))
		if err != nil {
			t.Fatal(err)
		}
		lengths[stat.Size()] = true
	}
	if len(lengths) != 4 {
		t.Errorf("1,000 records of 1,020 octets made the file longer %d times, want 4", len(lengths))
	}
}

// TestJournal_RealDisksFillUpAsWell: 600 KiB are left of a disk when a callback comes.
func TestJournal_RealDisksFillUpAsWell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("needs the right to mount:", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	base := filepath.Join(dir, "base")
	if err := os.WriteFile(base, make([]byte, 5<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for _, free := range []int64{0, 600 << 10} {
		if stat, err := os.Stat(base); err != nil || os.Truncate(base, stat.Size()-free) != nil {
			t.Fatal(err)
		}
		q, err := OpenQueue(t.Context(), Config{Dir: filepath.Join(dir, fmt.Sprint(free))})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Append(make([]byte, 1000)); (err == nil) != (free > 0) {
			t.Errorf("%d octets are free: %v", free, err)
		}
		q.Close()
	}
}
