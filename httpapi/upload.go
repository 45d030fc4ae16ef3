package httpapi

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// mostUploads bounds the large bodies that are held at the same time, in bytes: three of the largest. uploadRetry is
// the Retry-After of one that finds no place. Source: docs/rules/http.md#bodies.
const (
	mostUploads = 192 << 20
	uploadRetry = 5 * time.Second
)

// uploads has the large bodies that are held: one of an organization, and of all no more than mostUploads bytes, shared
// out as fair.Room says. Safe for concurrent use.
type uploads struct {
	mu   sync.Mutex
	open map[id.Organization]bool
	room fair.Room
}

// newUploads holds none.
func newUploads() *uploads {
	return &uploads{open: map[id.Organization]bool{}, room: fair.Room{Capacity: mostUploads}}
}

// upload is a large body of an organization. It counts with the memory that it has, which grows as its bytes come: a
// connection that says much and sends nothing takes little from others.
type upload struct {
	all  *uploads
	org  id.Organization
	held int64
}

// enter begins a body of an organization; the root host counts as one. The caller must call leave when the body is no
// longer needed. Fails: upload_running.
func (u *uploads) enter(org id.Organization) (*upload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[org] {
		return nil, failure.NewLimited("upload_running",
			"Another large file of your organization is being read. Please try again in a moment.", uploadRetry)
	}
	u.open[org] = true
	return &upload{all: u, org: org}, nil
}

// grow makes room for n more bytes. Fails: uploads_full.
func (u *upload) grow(n int64) error {
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	if !u.all.room.Take(u.org, n) {
		return failure.NewLimited("uploads_full",
			"Too many large files are being read now. Please try again in a moment.", uploadRetry)
	}
	u.held += n
	return nil
}

// leave gives the place and the room back. It does nothing for no upload.
func (u *upload) leave() {
	if u == nil {
		return
	}
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	u.all.room.Give(u.org, u.held)
	delete(u.all.open, u.org)
}

// bodySize is how long the call's body can be at most, in bytes: as it says, or as its route allows.
func (c *Call) bodySize() int64 {
	if c.Request.ContentLength < 0 {
		return c.route.BodyLimit
	}
	return min(c.Request.ContentLength, c.route.BodyLimit)
}

// holdBody takes a place for the body; nil when it is no larger than that of most endpoints. One that is too large for
// its route is left to readBody. Fails: upload_running.
func (c *Call) holdBody() (*upload, error) {
	size := c.bodySize()
	if !c.route.mutates() || size <= defaultBodyLimit || c.Request.ContentLength > c.route.BodyLimit {
		return nil, nil //nolint:nilnil // most bodies take no place
	}
	return c.server.uploads.enter(c.Org.ID)
}

// slowestUpload is the speed in bytes a second with which a large body comes at least, but for a pause of readLimit.
// Source: docs/rules/http.md#bodies.
const slowestUpload = 512 << 10

// timeFor is how long so many bytes of a large body may take.
func timeFor(bytes int64) time.Duration {
	return time.Duration(min(bytes, mostUploads)) * time.Second / slowestUpload
}

// uploadTime is how much longer than another one a request may take whose body is large, by its own word.
func uploadTime(r *http.Request) time.Duration {
	if r.ContentLength <= defaultBodyLimit {
		return 0
	}
	return timeFor(r.ContentLength)
}

// paced reads a large body that has said its length. What has come moves the connection's limit, so that a body that
// stops loses its place soon, whatever length it says.
type paced struct {
	from    io.Reader
	control *http.ResponseController
	start   time.Time // of the machine, with which the network compares
	pause   time.Duration
	came    int64
}

// pacedBody begins to read a large body, and gives its answer more time. A limit that cannot be moved stays.
func (c *Call) pacedBody(from io.Reader) *paced {
	p := &paced{
		from: from, control: http.NewResponseController(c.Writer), start: clock.Steady(clock.System()).Now(),
		pause: cmp.Or(c.server.cfg.UploadPause, readLimit),
	}
	_ = p.control.SetWriteDeadline(p.start.Add(writeLimit + uploadTime(c.Request)))
	return p
}

// Read implements io.Reader. Fails: upload_too_slow.
func (p *paced) Read(to []byte) (int, error) {
	_ = p.control.SetReadDeadline(p.start.Add(p.pause + timeFor(p.came)))
	n, err := p.from.Read(to)
	p.came += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = failure.NewLimited("upload_too_slow",
			"The file came too slowly. Please send it again over a faster connection, or in parts.", uploadRetry)
	}
	return n, err
}

// readLarge reads a body into memory that doubles as its bytes come, up to the size that it can have. Fails:
// uploads_full, upload_too_slow.
func (u *upload) readLarge(from io.Reader, size int64) ([]byte, error) {
	const spare = 512 // so that the end is seen without another doubling
	var body []byte
	for whole := int64(0); ; {
		if len(body) == cap(body) {
			more := min(max(whole, defaultBodyLimit), max(size-whole, spare))
			if err := u.grow(more); err != nil {
				return nil, err
			}
			whole += more
			larger := make([]byte, len(body), whole+spare)
			copy(larger, body)
			body = larger
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}
