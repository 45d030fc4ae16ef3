package changesapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/changes"
)

// reconnectsIn is after how many milliseconds a browser opens a stream again that was cut.
const reconnectsIn = 3000

// API serves the stream of changes.
type API struct{ Hub *Hub }

// Routes lists the endpoint.
func (a API) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/events/stream", Hosts: httpapi.OnBoth, Access: httpapi.AccessSupport, Stream: true,
		Summary: "What changes among the things that the caller may read, as server-sent events", Response: Change{},
		Query: []httpapi.Param{{
			Name: "lastEventId", Type: "string",
			Doc: "the id of the newest event that was read: go on from there; the header Last-Event-ID comes first",
		}},
		Handle: a.stream,
	}}
}

// stream tells its reader of changes until one of both goes. From the beginning on, an error has no status: it is the
// reason of the last event.
func (a API) stream(ctx context.Context, c *httpapi.Call) error {
	if !a.Hub.awaitBeginning(ctx) {
		return nil
	}
	r, upTo, err := a.Hub.enter(c.Org.ID, c.Caller.UserID, c.Caller.Role)
	if err != nil {
		return err
	}
	defer a.Hub.leave(r)
	s, err := c.OpenStream()
	if err == nil && c.Request.Method != http.MethodHead {
		err = a.Hub.serve(ctx, c, r, s, upTo)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		a.Hub.dropped()
	}
	return nil
}

// serve writes what there is, and waits for more. It returns the error of a write, because of which there is nobody to
// tell it to.
func (h *Hub) serve(ctx context.Context, c *httpapi.Call, r *reader, to *httpapi.Stream, upTo uint64) error {
	if err := to.Write(h.opening(ctx, c, r, upTo)); err != nil {
		return err
	}
	for {
		text, more, over := h.look(r)
		if over = cmp.Or(over, c.Still(ctx)); over != nil {
			return to.Write(endText(over))
		}
		if err := to.Write(text); err != nil {
			return err
		}
		if !loop.WaitFor(ctx, more, h.cfg.Heartbeat) {
			return nil
		}
	}
}

// aliveText is a sign of life, with what the program can do. It is an event, because a browser tells its page of
// nothing else: a line that has died without a word would look like a quiet day.
func aliveText(serves Serving, upTo uint64) []byte {
	return fmt.Appendf(nil, "event: alive\ndata: {\"serves\":%q}\n%s", serves, positionLine(upTo))
}

// endText is the last event of a stream, with the code of the reason.
func endText(why error) []byte {
	reason := "internal"
	var f *failure.Error
	if errors.As(why, &f) {
		reason = f.Code
	}
	return fmt.Appendf(nil, "event: end\ndata: {\"reason\":%q}\n\n", reason)
}

// opening is the beginning of a stream: what a reader who comes back has missed, and from where to go on the next time.
// What is not in the log is told as changed, since nobody knows.
func (h *Hub) opening(ctx context.Context, c *httpapi.Call, r *reader, upTo uint64) []byte {
	text := fmt.Appendf(nil, "retry: %d\n", reconnectsIn)
	last := cmp.Or(c.Request.Header.Get("Last-Event-ID"), c.Request.URL.Query().Get("lastEventId"))
	if last == "" {
		return append(text, positionLine(upTo)...)
	}
	list, ok := h.missed(ctx, r, last, upTo)
	if !ok {
		h.mu.Lock()
		h.counts.Resets++
		h.mu.Unlock()
		return append(text, resetText(upTo, h.cfg.Clock.Now())...)
	}
	now := h.cfg.Clock.Now()
	for _, topic := range []changesviews.Topic{changesviews.Breakers, changesviews.Sessions} {
		list = append(list, changesviews.Change{OrgID: r.org, Topic: topic, At: now})
	}
	told := write(list, upTo, r.role, r.room.organization)
	if told.messages == 0 {
		return append(text, positionLine(upTo)...)
	}
	return append(text, told.text...)
}

// missed gives the changes after the last event that a reader has read, gathered as in a batch. It gives false when
// nobody knows them any more.
func (h *Hub) missed(ctx context.Context, r *reader, last string, upTo uint64) ([]changesviews.Change, bool) {
	after, err := strconv.ParseUint(last, 10, 64)
	if err != nil || h.since == nil {
		return nil, false
	}
	list, ok := h.since(ctx, after, upTo)
	if !ok {
		return nil, false
	}
	var g gathered
	for _, e := range list {
		for _, one := range h.translate.Of(e) {
			if one.OrgID == r.org {
				g.add(one)
			}
		}
	}
	return g.told(), true
}
