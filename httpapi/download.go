package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// slowestDownload is the speed in bytes a second with which a file is taken at least, as on a phone at the edge of its
// network, and longestDownload is how long one may take. Source: docs/rules/http.md#bodies.
const (
	slowestDownload = 16 << 10
	longestDownload = 8 * time.Minute
)

// downloadTime is how much longer than another answer a file may take.
func downloadTime(size int64) time.Duration {
	return time.Duration(min(size/slowestDownload, int64(longestDownload/time.Second))) * time.Second
}

// GiveDownloadTime moves the limits of the request and of its connection for an answer of a size, which is made by then
// and holds nothing that others need. The result ends with the download and not with the limit of other requests.
func (c *Call) GiveDownloadTime(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	more := downloadTime(size)
	now := clock.Steady(clock.System()).Now() // the network compares it with the machine's time
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(now.Add(writeLimit + more))
	return context.WithTimeout(context.WithoutCancel(ctx), writeLimit+more)
}
