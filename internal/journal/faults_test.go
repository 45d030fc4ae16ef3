package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// badDisk has files whose operations fail, and knows what is left of them after a power failure.
type badDisk struct {
	t      *testing.T
	random *rand.Rand
	rate   float64 // of operations that fail
	files  map[string]*badFile
}

// badFile is a file that a running program sees as it has written it, and what the disk has of it.
type badFile struct {
	diskFile
	disk    *badDisk
	durable []byte
	dirty   map[int64]bool // pages that the system still has to write
}

// errDisk is the failure of a disk.
var errDisk = errors.New("input/output error")

// failure draws what a write says that fails: the disk is full, or broken.
func (d *badDisk) failure() error {
	if d.random.IntN(2) == 0 {
		return syscall.ENOSPC
	}
	return errDisk
}

// open opens a file as the journal does.
func (d *badDisk) open(path string, flags int) (file, error) {
	if d.fails() && flags&os.O_CREATE != 0 {
		return nil, errDisk
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	octets, err := os.ReadFile(path)
	out := &badFile{diskFile: diskFile{f}, disk: d, durable: octets, dirty: map[int64]bool{}}
	if before := d.files[filepath.Base(path)]; before != nil && flags&os.O_CREATE == 0 { // of a program that was killed
		out.durable, out.dirty = before.durable, before.dirty
	}
	d.files[filepath.Base(path)] = out
	return out, err
}

// fails draws whether an operation fails.
func (d *badDisk) fails() bool { return d.random.Float64() < d.rate }

// WriteAt can write a part only.
func (f *badFile) WriteAt(octets []byte, at int64) (int, error) {
	var failed error
	if f.disk.fails() {
		octets, failed = octets[:f.disk.random.IntN(len(octets))], f.disk.failure()
	}
	for p := at / page; p <= (at+int64(len(octets)))/page; p++ {
		f.dirty[p] = true
	}
	n, err := f.diskFile.WriteAt(octets, at)
	return n, errors.Join(err, failed)
}

// Reserve can fail as well.
func (f *badFile) Reserve(size int64) error {
	if f.disk.fails() {
		return f.disk.failure()
	}
	return f.diskFile.Reserve(size)
}

// Truncate changes what the program sees.
func (f *badFile) Truncate(size int64) error {
	if f.disk.fails() {
		return errDisk
	}
	f.dirty[size/page] = true
	return f.diskFile.Truncate(size)
}

// Sync writes the pages that were changed. When it fails it forgets that they were.
func (f *badFile) Sync() error {
	defer clear(f.dirty)
	if f.disk.fails() {
		return f.disk.failure()
	}
	f.flush(func() bool { return true })
	return nil
}

// flush writes some of the pages that were changed, and the length.
func (f *badFile) flush(which func() bool) {
	now, err := os.ReadFile(f.Name())
	if err != nil {
		return // it was removed
	}
	f.durable = append(f.durable, make([]byte, max(0, len(now)-len(f.durable)))...)[:len(now)]
	for p := range f.dirty {
		if from := int(p * page); from < len(now) && which() {
			copy(f.durable[from:], now[from:min(len(now), from+page)])
		}
	}
}

// cut gives a directory with what a power failure has left, and a disk that works.
func (d *badDisk) cut(dir string) *badDisk {
	d.t.Helper()
	for name, f := range d.files {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil && d.random.IntN(2) == 0 {
			continue // that it was removed is durable
		}
		if d.random.IntN(2) == 0 {
			f.flush(func() bool { return d.random.IntN(2) == 0 })
		}
		if err := os.WriteFile(path, f.durable, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return &badDisk{t: d.t, random: d.random, files: map[string]*badFile{}}
}

// trial is a journal on a bad disk, and what it has to have.
type trial struct {
	*testing.T
	seed           uint64
	dir            string
	disk           *badDisk
	journal        *Journal
	waiting        map[string]Place
	refused        map[string]bool
	next           int
	refusals, cuts *int
	prepared       *int
	gathered       *int
}

// start opens the journal, and checks what it has.
func (t *trial) start() {
	t.Helper()
	found := map[string]Place{}
	var err error
	t.journal, err = Open(t.Context(), Config{Dir: t.dir, Segment: 20_000, open: t.disk.open},
		func(p Place, content []byte) { found[string(content)] = p })
	if err != nil {
		t.Fatal(err)
	}
	t.journal.loops.Stop() // the test makes segments ready when it wants
	for text := range t.waiting {
		if _, ok := found[text]; !ok {
			t.Fatalf("seed %d: %.12s was kept and is lost", t.seed, text)
		}
	}
	for text, p := range found {
		if t.refused[text] {
			t.Fatalf("seed %d: %.12s was refused and is there", t.seed, text)
		}
		if _, kept := t.waiting[text]; !kept { // it was taken, or the program was killed before its sync
			delete(found, text)
			if err := t.journal.Taken(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.waiting, t.disk.rate = found, 0.1
}

// cut kills the program, and lets the power fail as well or not.
func (t *trial) cut() {
	t.Helper()
	t.journal.Close()
	*t.cuts++
	if t.disk.rate = 0; t.disk.random.IntN(2) == 0 {
		t.disk = t.disk.cut(t.dir)
	}
	if t.journal.broken != nil { // the disk took nothing any more until the end
		clear(t.refused)
	}
	t.start()
}

// take takes some records.
func (t *trial) take() {
	for _, text := range slices.Sorted(maps.Keys(t.waiting)) {
		if t.disk.random.IntN(2) == 0 {
			_ = t.journal.Taken(t.waiting[text])
			delete(t.waiting, text)
		}
	}
}

// gather brings together what is little used, however much of the disk there is.
func (t *trial) gather() {
	t.journal.mu.Lock()
	scattered := t.journal.littleUsed()
	t.journal.mu.Unlock()
	if scattered == nil {
		return
	}
	*t.gathered++
	var places []Place
	for _, text := range slices.Sorted(maps.Keys(t.waiting)) {
		if p := t.waiting[text]; scattered(p) {
			places = append(places, p)
		}
	}
	now, _ := t.journal.Gather(places)
	for text, p := range t.waiting {
		t.waiting[text] = now(p)
	}
}

// add appends some records.
func (t *trial) add() {
	var records [][]byte
	for range 1 + t.disk.random.IntN(3) {
		t.next++
		rest := strings.Repeat("x", t.disk.random.IntN(4000))
		records = append(records, fmt.Appendf(nil, "record %d %s", t.next, rest))
	}
	places, err := t.journal.Append(records...)
	if t.disk.random.IntN(4) == 0 {
		select {
		case <-t.journal.scarce:
			*t.prepared++
			t.journal.prepare(t.Context(), (*segment).fill)
		default:
		}
	}
	for i, record := range records {
		if err != nil {
			t.refused[string(record)] = true
			*t.refusals++
			continue
		}
		t.waiting[string(record)] = places[i]
	}
}

// TestJournal_ABadDiskLosesNothingAndBringsNothingBack: writes, syncs, cuts and new files fail at random, and now and
// then the program is killed or the power does.
func TestJournal_ABadDiskLosesNothingAndBringsNothingBack(t *testing.T) {
	t.Parallel()
	refusals, cuts, prepared, gathered := 0, 0, 0, 0
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 1))
		one := &trial{
			T: t, seed: seed, dir: t.TempDir(), disk: &badDisk{t: t, random: random, files: map[string]*badFile{}},
			refused: map[string]bool{}, refusals: &refusals, cuts: &cuts, prepared: &prepared,
			gathered: &gathered,
		}
		one.start()
		for range 60 {
			switch random.IntN(10) {
			case 0:
				one.cut()
			case 1, 2, 3:
				if one.take(); random.IntN(3) == 0 {
					one.gather()
				}
			default:
				one.add()
			}
			for text, p := range one.waiting {
				if got, err := one.journal.Read(p); err != nil || len(got) != 1 || string(got[0]) != text {
					t.Fatalf("seed %d: %.12s is read as %.12q, %v", seed, text, got, err)
				}
			}
		}
		one.journal.Close()
	}
	if refusals < 500 || cuts < 500 || prepared < 200 || gathered < 100 {
		t.Errorf("only %d refusals, %d power failures, %d segments made ready, %d gathered", refusals, cuts, prepared,
			gathered)
	}
}

// TestJournal_ADiskThatWorksAgainIsUsedAgain: the directory takes no files, as one that is read only.
func TestJournal_ADiskThatWorksAgainIsUsedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := &badDisk{t: t, random: rand.New(rand.NewPCG(1, 1)), files: map[string]*badFile{}}
	j, err := Open(t.Context(), Config{Dir: dir, Segment: 1000, open: disk.open}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	j.loops.Stop() // one goroutine draws
	if _, err := j.Append([]byte("before")); err != nil {
		t.Fatal(err)
	}
	disk.rate = 1
	for range 3 {
		if _, err := j.Append([]byte("meanwhile")); err == nil {
			t.Error("a disk that fails has kept something")
		}
	}
	disk.rate = 0
	if _, err := j.Append([]byte("after")); err != nil || j.Len() != 2 {
		t.Error(j.Len(), err)
	}
	j.Close()
	var found []string
	again, err := Open(t.Context(), Config{Dir: dir}, func(_ Place, content []byte) {
		found = append(found, string(content))
	})
	if err != nil || !slices.Equal(found, []string{"before", "after"}) {
		t.Errorf("%q, %v", found, err)
	}
	again.Close()
}

// fullDisk names the directory for the child process of TestJournal_AFullDiskRefusesAndKeepsWhatItHas.
const fullDisk = "LASTMILE_TEST_FULL_DISK"

// TestJournal_AFullDiskRefusesAndKeepsWhatItHas: a process may write no more than 30,000 octets into a file.
func TestJournal_AFullDiskRefusesAndKeepsWhatItHas(t *testing.T) {
	if dir := os.Getenv(fullDisk); dir != "" {
		fill(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), fullDisk+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	q, err := OpenQueue(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	records, _, err := q.Next(100)
	if err != nil || len(records) != 1 || records[0][0] != 'k' {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// fill writes until the disk is full, and then goes on with what it takes.
func fill(t *testing.T, dir string) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	most := syscall.Rlimit{Cur: 30_000, Max: 30_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &most); err != nil {
		t.Fatal(err)
	}
	q, err := OpenQueue(t.Context(), Config{Dir: dir, Segment: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := q.Append(bytes.Repeat([]byte("refused"), 5000)); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("a full disk: %v", err)
		}
	}
	if q.Len() != 0 || q.Disk() > segmentHead {
		t.Errorf("%d records, %d octets", q.Len(), q.Disk())
	}
	q.Close()
	if q, err = OpenQueue(t.Context(), Config{Dir: dir, Segment: 20_000}); err != nil {
		t.Fatal(err)
	}
	if err := q.Append([]byte("kept")); err != nil {
		t.Error(err)
	}
}

// TestJournal_OpensOnADiskThatTakesNothing: one segment has a record that waits, and another one, with a record that
// was not finished, cannot be emptied.
func TestJournal_OpensOnADiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small := Config{Dir: dir, Segment: segmentHead + Size([]byte("waits"))} // each has a segment for itself
	j, err := Open(t.Context(), small, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]byte("waits")); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if j, err = Open(t.Context(), small, func(Place, []byte) {}); err != nil {
		t.Fatal(err)
	}
	places, err := j.Append([]byte("taken"))
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if err := os.Truncate(j.path(places[0].in.number), segmentHead+Size([]byte("taken"))-1); err != nil {
		t.Fatal(err)
	}
	disk := &badDisk{t: t, random: rand.New(rand.NewPCG(1, 1)), files: map[string]*badFile{}, rate: 1}
	var found []string
	j, err = Open(t.Context(), Config{Dir: dir, open: disk.open}, func(_ Place, content []byte) {
		found = append(found, string(content))
	})
	if err != nil || !slices.Equal(found, []string{"waits"}) {
		t.Fatalf("%q, %v", found, err)
	}
	j.Close()
}
