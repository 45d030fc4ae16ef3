package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sizes of the spool.
const (
	spoolFile = 16 << 20 // bytes, after which another file is begun
	turnSize  = 64       // reports of one organization that are taken in its turn, at most
)

// errSpoolFull refuses reports when the spool has reached its limit.
var errSpoolFull = errors.New("the spool is full")

// spool keeps reports in files until the database has them. What append has returned as kept is on the disk. Reports
// are taken by organizations in turn, and those of one organization in order. After a kill the reports that were taken
// last can be there again. Safe for one goroutine that appends and another one that takes.
type spool struct {
	dir    string
	limit  int64
	whole  int64 // bytes of a file
	logger *slog.Logger
	step   func(string)
	heard  func(Report)     // is told what the files have when they are opened
	now    func() time.Time // by which the age of reports is known

	mu      sync.Mutex
	files   []*spooled // the oldest first; the first one stays, the last one is written
	number  int        // of the last file
	room    fair.Room
	waiting fair.Rota[stretch]
	taking  []stretch // of the group that is being taken
	writing bool
}

// spooled is one file of the spool.
type spooled struct {
	file *os.File
	size int64 // where the last whole record ends
	left int64 // bytes that were not taken
}

// stretch is where some reports of one organization lie behind each other.
type stretch struct {
	org      id.Organization
	in       *spooled
	at, size int64
	count    int
	since    time.Time // when they were kept
}

// append writes a group of reports through to the disk. It reports of each whether it is kept: an organization that has
// its share of the limit in the spool gets no more. After an error none is.
func (s *spool) append(reports []Report) (kept []bool, err error) {
	kept = make([]bool, len(reports))
	file, err := s.writable()
	if err != nil {
		return kept, err
	}
	defer func() {
		s.mu.Lock()
		s.writing = false
		s.mu.Unlock()
	}()
	body, list, err := s.encode(file, reports, kept)
	if err != nil || len(list) == 0 {
		return kept, err
	}
	s.step("before write")
	if _, err = file.file.WriteAt(body, file.size); err == nil {
		s.step("written")
		err = file.file.Sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		for _, one := range list {
			s.room.Give(one.org, one.size)
		}
		clear(kept)
		return kept, fmt.Errorf("write spool: %w", errors.Join(err, file.file.Truncate(file.size)))
	}
	file.size, file.left = file.size+int64(len(body)), file.left+int64(len(body))
	for _, one := range list {
		s.waiting.Add(one.org, one)
	}
	return kept, nil
}

// writable gives the last file, or a new one behind it when it is whole. It is not emptied until append has ended.
func (s *spool) writable() (*spooled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = true
	last := s.files[len(s.files)-1]
	if last.size < s.whole {
		return last, nil
	}
	if err := s.begin(); err != nil {
		s.writing = false
		return nil, err
	}
	s.step("begun")
	return s.files[len(s.files)-1], nil
}

// encode makes the records of the reports for which there is room, which it takes.
func (s *spool) encode(in *spooled, reports []Report, kept []bool) (body []byte, list []stretch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i, r := range reports {
		at := len(body)
		if body, err = appendRecord(body, r); err != nil {
			break
		}
		n := int64(len(body) - at)
		if !s.room.Take(r.Org, n) {
			body = body[:at]
			continue
		}
		kept[i] = true
		list = lengthen(list, stretch{r.Org, in, in.size + int64(at), n, 1, now})
	}
	if err != nil {
		for _, one := range list {
			s.room.Give(one.org, one.size)
		}
		clear(kept)
		return nil, nil, err
	}
	return body, list, nil
}

// lengthen adds one record to the last stretch, or begins another one for another organization or turn.
func lengthen(list []stretch, one stretch) []stretch {
	if n := len(list) - 1; n >= 0 && list[n].org == one.org && list[n].count < turnSize {
		list[n].size, list[n].count = list[n].size+one.size, list[n].count+1
		return list
	}
	return append(list, one)
}

// empty reports whether all reports were taken.
func (s *spool) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.Empty() && len(s.taking) == 0
}

// bytes is the size of the reports that were not taken.
func (s *spool) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room.Used()
}

// next gives the reports whose turn it is, whole stretches with at least one and about most, and the number of
// stretches for taken. Until taken it gives the same ones.
func (s *spool) next(most int) ([]Report, int, error) {
	s.mu.Lock()
	have := 0
	for _, one := range s.taking {
		have += one.count
	}
	for have < most {
		_, one, ok := s.waiting.Next(nil)
		if !ok {
			break
		}
		s.taking = append(s.taking, one)
		have += one.count
	}
	taking := s.taking
	s.mu.Unlock()
	var list []Report
	for n, one := range taking {
		if n > 0 && len(list)+one.count > most {
			return list, n, nil
		}
		body := make([]byte, one.size)
		if _, err := one.in.file.ReadAt(body, one.at); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("read spool: %w", err)
		}
		for in := bytes.NewReader(body); in.Len() > 0; {
			r, _, err := readRecord(in)
			if err != nil { // the disk has changed what it was given
				s.logger.Error("accounting spool is damaged, some of it is lost", slog.Int64("bytes", one.size))
				break
			}
			list = append(list, r)
		}
	}
	return list, len(taking), nil
}

// taken forgets so many stretches of those that next gave, and the files that have nothing else.
func (s *spool) taken(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.taking[:n] {
		s.room.Give(one.org, one.size)
		one.in.left -= one.size
	}
	if s.taking = s.taking[n:]; len(s.taking) == 0 {
		s.taking = nil
	}
	return s.tidy()
}

// behind is since when the report waits that was kept first of those that are not taken; zero = none waits.
func (s *spool) behind() (since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	older := func(one stretch) {
		if since.IsZero() || one.since.Before(since) {
			since = one.since
		}
	}
	for _, one := range s.taking {
		older(one)
	}
	s.waiting.Heads(older)
	return since
}

// open opens the files of a directory. See load.
func (s *spool) open(ctx context.Context, dir string) error {
	s.dir, s.room.Capacity = dir, s.limit
	if err := s.load(ctx); err != nil {
		s.close()
		return fmt.Errorf("open spool: %w", err)
	}
	return nil
}

// close frees the files.
func (s *spool) close() {
	for _, one := range s.files {
		_ = one.file.Close()
	}
}
