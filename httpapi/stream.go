package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases"
)

// contentStream is the type of server-sent events.
const contentStream = "text/event-stream"

// writePatience is how long one write to the reader of a stream may take. Who takes nothing for so long, although the
// buffers of the connection are full, has gone or will not catch up.
const writePatience = 10 * time.Second

// Stream is an answer of server-sent events, which goes on until its reader, its access or the program ends. It has no
// limit for the whole, but one for each write. Only the goroutine of the request uses it.
type Stream struct {
	call    *Call
	control *http.ResponseController
	// machine is the clock of the deadlines, which the network compares with the machine's.
	machine clock.Clock
}

// OpenStream begins the answer of a route with Stream: the status and the headers go out, and the limits of other
// requests no longer hold. No proxy may gather or keep what comes.
func (c *Call) OpenStream() (*Stream, error) {
	s := &Stream{call: c, control: http.NewResponseController(c.Writer), machine: clock.Steady(clock.System())}
	if err := s.control.SetReadDeadline(time.Time{}); err != nil { // it would end the request as if its reader had gone
		return nil, err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", contentStream)
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.Writer.WriteHeader(http.StatusOK)
	return s, s.Write(nil)
}

// Write sends a part of the answer at once. It fails when the reader has gone, or takes nothing for writePatience.
func (s *Stream) Write(text []byte) error {
	if err := s.control.SetWriteDeadline(s.machine.Now().Add(writePatience)); err != nil {
		return err
	}
	if len(text) > 0 {
		if _, err := s.call.Writer.Write(text); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// errRoleChanged ends a stream whose reader has another role than at its beginning: what may be read is another.
func errRoleChanged() error {
	return failure.NewUnauthenticated("role_changed", "Your role has changed. Please open the stream again.")
}

// Still fails when the caller may not read any more what was granted at the beginning of the request: the sign-in is
// over, the organization is suspended, or the role is another one. It asks memory alone. Fails: unauthenticated,
// organization_suspended, password_change_required, second_factor_required, role_changed, access_unknown.
func (c *Call) Still(ctx context.Context) error {
	now := Call{Request: c.Request, server: c.server, route: c.route, hostKind: c.hostKind, Org: c.Org, IP: c.IP}
	if err := c.server.enterOrganization(ctx, &now); err != nil {
		return err
	}
	if now.Org.ID != c.Org.ID {
		return usecases.ErrSignIn()
	}
	if err := c.server.identify(ctx, &now); err != nil {
		return err
	}
	if now.Caller.Role != c.Caller.Role {
		return errRoleChanged()
	}
	return now.mayEnter()
}
