package journal

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// heldFile is a file whose reads wait while it is held.
type heldFile struct {
	file
	held    atomic.Pointer[chan struct{}] // nil = it is not held
	reading chan struct{}                 // has an element when a read waits
	closed  atomic.Bool
}

// ReadAt implements file.
func (f *heldFile) ReadAt(octets []byte, at int64) (int, error) {
	if held := f.held.Load(); held != nil {
		f.reading <- struct{}{}
		<-*held
	}
	return f.file.ReadAt(octets, at)
}

// Close implements file.
func (f *heldFile) Close() error {
	f.closed.Store(true)
	return f.file.Close()
}

// TestJournal_ARemovedFileIsClosedWhenItsLastReaderHasIt: not under the one who reads it, and not later.
func TestJournal_ARemovedFileIsClosedWhenItsLastReaderHasIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "j")
	j, err := Open(t.Context(), Config{Dir: dir, Segment: 64 << 10, open: func(path string, flags int) (file, error) {
		f, err := openFile(path, flags)
		return &heldFile{file: f, reading: make(chan struct{}, 1)}, err
	}}, func(Place, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	places, err := j.Append([]byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	j.mu.Lock()
	of, path := places[0].in.file.(*heldFile), j.path(places[0].in.number)
	j.mu.Unlock()
	held := make(chan struct{})
	of.held.Store(&held)
	read := make(chan error, 1)
	go func() {
		got, err := j.Read(places[0])
		if err == nil && (len(got) != 1 || string(got[0]) != "kept") {
			t.Errorf("read %q", got)
		}
		read <- err
	}()
	<-of.reading
	of.held.Store(nil) // the move reads it as well
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]byte("next")); err != nil {
		t.Fatal(err)
	}
	if of.closed.Load() {
		t.Error("it was closed under its reader")
	}
	close(held)
	if err := <-read; err != nil {
		t.Error(err)
	}
	if !of.closed.Load() {
		t.Error("nobody reads it, and it is open")
	}
}
