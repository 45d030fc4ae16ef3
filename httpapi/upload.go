package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// mostUploads bounds the large bodies that are held at the same time, in bytes; uploadRetry is the Retry-After of one
// that finds no place. Source: docs/rules/http.md#bodies.
const (
	mostUploads = 128 << 20
	uploadRetry = 5 * time.Second
)

// uploads has the large bodies that are held: one of an organization, and of all no more than mostUploads bytes. The
// zero value holds none. Safe for concurrent use.
type uploads struct {
	mu    sync.Mutex
	held  map[id.Organization]bool
	bytes int64
}

// enter makes room for a body of an organization; the root host counts as one. The caller must call leave when the body
// is no longer needed. Fails: upload_running, uploads_full.
func (u *uploads) enter(org id.Organization, size int64) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.held[org]:
		return nil, failure.NewLimited("upload_running",
			"Another large file of your organization is being read. Please try again in a moment.", uploadRetry)
	case u.bytes+size > mostUploads:
		return nil, failure.NewLimited("uploads_full",
			"Too many large files are being read now. Please try again in a moment.", uploadRetry)
	}
	if u.held == nil {
		u.held = map[id.Organization]bool{}
	}
	u.held[org] = true
	u.bytes += size
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.held, org)
		u.bytes -= size
	}, nil
}

// bodySize is how long the call's body can be at most, in bytes: as it says, or as its route allows.
func (c *Call) bodySize() int64 {
	if c.Request.ContentLength < 0 {
		return c.route.BodyLimit
	}
	return min(c.Request.ContentLength, c.route.BodyLimit)
}

// holdBody makes room for the body, unless it is no larger than that of most endpoints. One that is too large for its
// route is left to readBody. Fails: upload_running, uploads_full.
func (c *Call) holdBody() (leave func(), err error) {
	size := c.bodySize()
	if !c.route.mutates() || size <= defaultBodyLimit || c.Request.ContentLength > c.route.BodyLimit {
		return func() {}, nil
	}
	return c.server.uploads.enter(c.Org.ID, size)
}

// slowestUpload is the speed in bytes a second with which a large body comes at least. Source:
// docs/rules/http.md#bodies.
const slowestUpload = 512 << 10

// uploadTime is how much longer than another one a request may take whose body is large, by its own word.
func uploadTime(r *http.Request) time.Duration {
	if r.ContentLength <= defaultBodyLimit {
		return 0
	}
	return time.Duration(min(r.ContentLength, mostUploads)) * time.Second / slowestUpload
}

// giveTime moves the limits of the connection for a large body. One that cannot be moved stays.
func (c *Call) giveTime() {
	if more := uploadTime(c.Request); more > 0 {
		control, now := http.NewResponseController(c.Writer), clock.Steady(clock.System()).Now()
		_ = control.SetReadDeadline(now.Add(readLimit + more))
		_ = control.SetWriteDeadline(now.Add(writeLimit + more))
	}
}

// readAll reads a body of a size that is known before, without the copies that a growing one costs.
func readAll(from io.Reader, size int64) ([]byte, error) {
	var to bytes.Buffer
	to.Grow(int(size) + bytes.MinRead)
	_, err := to.ReadFrom(from)
	return to.Bytes(), err
}
