package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// contentJSON is the type of every answer with a body, unless a handler sets another.
const contentJSON = "application/json; charset=utf-8"

// Call is one request on its way through the server. Only the goroutine of the request uses it.
type Call struct {
	Request   *http.Request
	Writer    http.ResponseWriter // a *recorder
	Org       Organization        // of the host; zero on the root host
	Caller    Caller              // zero on public routes
	IP        string              // of the client, see ClientIP
	RequestID string

	server   *Server
	route    *Route
	params   httprouter.Params
	host     string // lower case, without port
	hostKind Hosts
	closed   *closedPage // what a browser is told when nothing is open behind the host
	body     []byte
	started  time.Time
	code     string     // of the failure answered, for the log
	command  id.Command // zero before the first Meta without a key
	keyed    bool       // command comes from an Idempotency-Key
	expected *uint64    // If-Match
	// refusedKey is an API key that is right and may not enter, for the audit log.
	refusedKey Caller
	leavePlace func() // nil = the call has no place (TakePlace)
}

// rec gives the recorder behind Writer.
func (c *Call) rec() *recorder {
	return c.Writer.(*recorder) //nolint:forcetypeassert // ServeHTTP sets it, nothing else does
}

// pattern is the route's path as the table has it, "none" without a route. Logs and metrics show it instead of the path
// of the request (docs/rules/http.md#health).
func (c *Call) pattern() string {
	if c.route == nil {
		return "none"
	}
	return c.route.Path
}

// ServiceDomain is the platform's own host name: the root host, and the parent of every organization's.
func (c *Call) ServiceDomain() string { return c.server.cfg.ServiceDomain }

// Production reports whether this is a production installation: cookies travel over HTTPS only.
func (c *Call) Production() bool { return c.server.cfg.Production }

// Param is a segment of the path by its name in the pattern.
func (c *Call) Param(name string) string { return c.params.ByName(name) }

// Body is the whole body as it was sent, at most Route.BodyLimit bytes.
func (c *Call) Body() []byte { return c.body }

// PathID reads an id from the path. A text that is not an id gives the same failure as an id that does not exist.
func PathID[I ~[16]byte](c *Call, name string, missing func() error) (I, error) {
	var zero I
	v, err := id.Parse[I](c.Param(name))
	if err != nil || v == zero {
		return zero, missing()
	}
	return v, nil
}

// Actor is the caller as the metadata of events names it; without a sign-in it is public.
func (c *Call) Actor() events.Actor { return c.Caller.actor() }

// Meta is the metadata of the request's main command, with If-Match as its expected revision. The command id is the
// same at each call; without an Idempotency-Key the first call makes it.
func (c *Call) Meta() commands.Meta {
	if c.command.IsZero() {
		c.command = id.New[id.Command]()
	}
	return commands.Meta{CommandID: c.command, OrgID: c.Org.ID, Actor: c.Actor(), IP: c.IP, RequestID: c.RequestID,
		ExpectedRevision: c.expected}
}

// Asked is Meta for a use case, with the fact whether the command id comes from an Idempotency-Key.
func (c *Call) Asked() usecases.Asked { return usecases.Asked{Meta: c.Meta(), Keyed: c.keyed} }

// Send answers with a status and a value as JSON, to a customer without what is for staff alone (StaffSees). Only a
// value that cannot be JSON is an error.
func (c *Call) Send(status int, body any) error {
	text, err := json.Marshal(c.forCustomer(body))
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	c.SendBytes(status, contentJSON, text)
	return nil
}

// SendBytes answers with a body of any content type.
func (c *Call) SendBytes(status int, contentType string, body []byte) {
	c.givePlace()
	c.Writer.Header().Set("Content-Type", contentType)
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // it fails only when the client has gone
}

// NoContent answers 204.
func (c *Call) NoContent() error {
	c.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// SetRevision sets the ETag: the revision of the stream that decides about the resource.
func (c *Call) SetRevision(revision uint64) {
	c.Writer.Header().Set("ETag", `"`+strconv.FormatUint(revision, 10)+`"`)
}

// noRevision is the ETag of a resource that shows what holds without any event, such as settings that nobody made yet.
// With it in If-Match, of two who make the first settings at once the second is told.
const noRevision = `"none"`

// SetNoRevision sets the ETag of a resource about which nothing was recorded yet.
func (c *Call) SetNoRevision() { c.Writer.Header().Set("ETag", noRevision) }

// readConditions reads If-Match. "*" is ignored: a command fails by itself when its resource does not exist. Fails:
// bad_if_match.
func (c *Call) readConditions() error {
	text := strings.TrimSpace(c.Request.Header.Get("If-Match"))
	if text == "" || text == "*" || !c.route.mutates() {
		return nil
	}
	if text == noRevision {
		none := commands.NoRevision
		c.expected = &none
		return nil
	}
	digits, opened := strings.CutPrefix(text, `"`)
	digits, closed := strings.CutSuffix(digits, `"`)
	revision, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !opened || !closed {
		return failure.NewMalformed("bad_if_match", `If-Match must be one entity tag as given in ETag, such as "3".`)
	}
	if revision == commands.NoRevision {
		revision-- // a number stands for itself; no stream has so many events
	}
	c.expected = &revision
	return nil
}

// BodyTooLarge refuses a body that is longer than the limit, in bytes.
func BodyTooLarge(limit int64) error {
	return failure.New(failure.TooLarge, "body_too_large", "The body is larger than %d bytes.", limit)
}

// readBody reads the body, at most Route.BodyLimit bytes, and checks its type; held is the place of a large one. Fails:
// body_too_large, body_unreadable, uploads_full, upload_too_slow, unsupported_media_type.
func (c *Call) readBody(held *upload) error {
	if !c.route.mutates() || c.Request.Body == nil || c.Request.Body == http.NoBody {
		return nil
	}
	tooLarge := BodyTooLarge(c.route.BodyLimit)
	if c.Request.ContentLength > c.route.BodyLimit {
		return tooLarge
	}
	from := http.MaxBytesReader(c.rec().to, c.Request.Body, c.route.BodyLimit)
	body, err := c.readFrom(from, held)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge
	case errors.As(err, new(*failure.Error)):
		return err
	case err != nil:
		return failure.NewMalformed("body_unreadable", "The body could not be read. Please send it again.")
	}
	c.body = body
	if len(body) > 0 && c.route.takesBody && !c.hasType(c.route.Accepts) && !c.IsForm() {
		return failure.NewMalformed("unsupported_media_type", "The body must be of type %s.", c.route.Accepts)
	}
	return nil
}

// readFrom reads a large body by its own rules, and any other one as it comes.
func (c *Call) readFrom(from io.Reader, held *upload) ([]byte, error) {
	if held == nil {
		return io.ReadAll(from)
	}
	if c.Request.ContentLength > defaultBodyLimit {
		from = c.pacedBody(from)
	}
	return held.readLarge(from, c.bodySize())
}

// IsForm reports whether the body is a form, at a route that takes forms.
func (c *Call) IsForm() bool { return c.route.Form && c.hasType("application/x-www-form-urlencoded") }

// hasType reports whether the body's declared type, without its parameters, is the given one.
func (c *Call) hasType(want string) bool {
	got, _, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type"))
	return err == nil && got == want
}
