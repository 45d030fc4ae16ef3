package genieacs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Bounds of answers, in bytes: a list is read one document at a time.
const (
	maxAnswer = 1 << 20
	maxList   = 64 << 20
)

// maxText bounds a text that is taken from an answer, in bytes.
const maxText = 500

// versionHeader is in every answer of the northbound interface. A proxy's page does not have it.
const versionHeader = "GenieACS-Version"

// inSession is the text of the 503 for a device that is locked by its session.
const inSession = "Device is in session"

// call is one request. The path is escaped, with its query.
type call struct {
	operation, method, path string
	device                  DeviceID // for the log; "" = none
	body                    []byte
	headers                 map[string]string
	timeout                 time.Duration // the usual one when 0
	// take reads the body of a 200; nil = the body is read whole.
	take func(io.Reader) error
}

// reply is an answer of the server itself.
type reply struct {
	status int
	reason string // the phrase of the status line, which the server uses to say more
	header http.Header
	body   []byte // nil when take has read it
}

// writes reports whether a repeat might act twice.
func (c call) writes() bool { return c.method != http.MethodGet && c.method != http.MethodHead }

// settled is send for calls that meet a device in session: they are tried four times.
func (s *Server) settled(ctx context.Context, c call) (reply, error) {
	for try := 0; ; try++ {
		r, err := s.send(ctx, c)
		switch {
		case err != nil || r.status != http.StatusServiceUnavailable:
			return r, err
		case try == 3 || !pause(ctx, s.patience<<try):
			return reply{}, ErrInSession
		}
	}
}

// send makes one exchange through the breaker and writes its log line. A reply has a status below 500, or is the 503 of
// a device in session.
func (s *Server) send(ctx context.Context, c call) (reply, error) {
	limit := s.timeout
	if c.timeout > 0 {
		limit = c.timeout
	}
	var r reply
	began := s.clock.Now()
	err := s.guard.Do(ctx, BreakerKind, s.host, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		var wrote bool
		var err error
		if r, wrote, err = s.roundTrip(within, c); err == nil {
			return nil
		}
		return s.judge(ctx, c, wrote, err)
	})
	outcome := "answered"
	switch {
	case errors.Is(err, ErrCrashed):
		outcome = "crashed"
	case errors.Is(err, ErrInDoubt):
		outcome = "in_doubt"
	case err != nil:
		outcome = "failed"
	}
	s.log.InfoContext(ctx, "cpe server call", "system", "genieacs", "operation", c.operation, "target", s.host,
		"device", string(c.device), "duration", s.clock.Now().Sub(began), "status", r.status, "outcome", outcome)
	if err != nil {
		return reply{}, told(err)
	}
	return r, nil
}

// roundTrip makes the HTTP exchange. wrote is false only when it is certain that no byte of the request was sent.
func (s *Server) roundTrip(ctx context.Context, c call) (r reply, wrote bool, err error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	// The URL is put together as text: url.URL would change the escapes of an id.
	req, err := http.NewRequestWithContext(ctx, c.method, s.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		return reply{}, false, unfit("address cannot be made")
	}
	if len(c.body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	began := s.clock.Now()
	w, err := s.http.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // without the URL, whose query is long
		}
		return reply{}, connected.Load(), err
	}
	defer w.Body.Close()
	r = reply{status: w.StatusCode, header: w.Header}
	_, r.reason, _ = strings.Cut(w.Status, " ")
	if r.tooLong() {
		return r, true, nil
	}
	if w.Header.Get(versionHeader) == "" {
		return r, true, fmt.Errorf("%w: status %d without the header of a CPE server", errForeign, w.StatusCode)
	}
	s.compareClocks(w.Header, began)
	if w.StatusCode == http.StatusOK && c.take != nil {
		return r, true, c.take(io.LimitReader(w.Body, maxList))
	}
	r.body, err = io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return r, true, fmt.Errorf("read answer: %w", err)
	case len(r.body) > maxAnswer:
		return r, true, fmt.Errorf("%w: answer is too large", errForeign)
	case w.StatusCode >= http.StatusInternalServerError && !r.own(c):
		return r, true, fmt.Errorf("%w: status %d", errForeign, w.StatusCode)
	}
	return r, true, nil
}

// compareClocks learns from an answer by how much the server's clock is ahead of ours. The server says the second in
// which it answered, which was between our question and now: what can be the length of these is no difference.
func (s *Server) compareClocks(header http.Header, began time.Time) {
	second, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	least, most := second.Sub(s.clock.Now()), second.Add(time.Second).Sub(began)
	s.ahead.Store(int64(max(least, min(most, 0))))
}

// Ahead is the time by which the server's clock was ahead of ours at its last answer, as far as that is certain: it may
// be a second more. It is negative when the server's clock is behind, and 0 before the first answer.
func (s *Server) Ahead() time.Duration { return time.Duration(s.ahead.Load()) }

// tooLong reports whether the address of a request was longer than the server takes. It says so before anything has
// looked at the request, and so without its header.
func (r reply) tooLong() bool {
	return r.status == http.StatusRequestURITooLong || r.status == http.StatusRequestHeaderFieldsTooLarge
}

// own reports whether an answer of 500 and more is of the server itself: a device in session, or one that a connection
// request alone did not reach.
func (r reply) own(c call) bool {
	return r.status == http.StatusServiceUnavailable && string(r.body) == inSession ||
		r.status == http.StatusGatewayTimeout && c.operation == operationConnect
}

// operationConnect is a connection request without a task.
const operationConnect = "request_connection"

// errForeign is an answer that came, but is not one that the server gives: of a proxy, or cut.
var errForeign = errors.New("answer cannot be read")

// errTaken marks the end of a list whose caller had enough; it says nothing about the server.
var errTaken = errors.New("the caller ended the list")

// judge tells a server that is away from one that broke off at this request: it asks something harmless. Only the first
// counts against the server.
func (s *Server) judge(ctx context.Context, c call, wrote bool, err error) error {
	switch {
	case errors.Is(err, ErrUnfit), errors.Is(err, errTaken):
		return breaker.Answered(err)
	case !wrote:
		return err
	case errors.Is(ctx.Err(), context.Canceled):
	case !errors.Is(err, errForeign) && s.alive(ctx):
		err = breaker.Answered(fmt.Errorf("%w: %w", ErrCrashed, err))
	}
	if c.writes() {
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return err
}

// aliveWait bounds the question whether a server answers at all.
const aliveWait = 3 * time.Second

// alive asks for the number of presets, which no server has trouble with. The caller's deadline may have passed.
func (s *Server) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), aliveWait)
	defer cancel()
	r, _, err := s.roundTrip(ctx, call{method: http.MethodHead, path: "/presets/"})
	return err == nil && r.status == http.StatusOK
}

// told gives transport errors, what the server broke off, and the refusal of an open breaker the code
// cpe_server_unavailable; the other errors of this package stay what they are, without the breaker's marks.
func told(err error) error {
	switch {
	case errors.Is(err, ErrUnfit), errors.Is(err, errTaken):
		return err
	case errors.Is(err, ErrInDoubt):
		return fmt.Errorf("%w: %w", ErrInDoubt, unavailable(err))
	}
	return unavailable(err)
}

// unavailable is the failure of a server that does not answer.
func unavailable(err error) error {
	var known *failure.Error
	var wait time.Duration
	if errors.As(err, &known) {
		wait = known.RetryAfter
	}
	return failure.NewUnavailable("cpe_server_unavailable",
		"The server of the customers' devices cannot be reached at the moment. Try again later.", wait, err)
}

// Unreachable reports whether a call failed because the server cannot be reached, so that any other one would fail as
// well; false when the server broke off at this request alone, or when its answer to this one cannot be read.
func Unreachable(err error) bool {
	return failure.CodeOf(err) == "cpe_server_unavailable" && !errors.Is(err, ErrCrashed) && !errors.Is(err, errForeign)
}

// refused makes the error of an answer that is none of the expected ones.
func (r reply) refused() error { return &Refusal{Status: r.status, Message: clean(string(r.body))} }

// clean makes a text fit for logs, databases and pages: valid, short, without control characters.
func clean(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text))
	for len(text) > maxText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// selection says which documents of a collection a list has.
type selection struct {
	collection string
	query      map[string]any // nil = all
	fields     []string       // never empty for devices
	skip       int
	limit      int
}

// path writes the address of a list.
func (s selection) path() (string, error) {
	values := url.Values{}
	if s.query != nil {
		text, err := json.Marshal(s.query)
		if err != nil {
			return "", unfit("query cannot be written")
		}
		values.Set("query", string(text))
	}
	if s.fields != nil {
		values.Set("projection", strings.Join(s.fields, ","))
	}
	if s.limit > 0 {
		values.Set("sort", `{"_id":1}`)
		values.Set("limit", fmt.Sprint(s.limit))
	}
	if s.skip > 0 {
		values.Set("skip", fmt.Sprint(s.skip))
	}
	return "/" + s.collection + "/?" + values.Encode(), nil
}

// count gives the number of all matches, without reading one.
func (s *Server) count(ctx context.Context, operation string, sel selection) (int, error) {
	path, err := sel.path()
	if err != nil {
		return 0, err
	}
	r, err := s.send(ctx, call{operation: operation, method: http.MethodHead, path: path})
	if err != nil {
		return 0, err
	}
	return total(r)
}

// total reads the number of all matches from the header of a list.
func total(r reply) (int, error) {
	if r.status != http.StatusOK {
		return 0, r.refused()
	}
	var n int
	if _, err := fmt.Sscan(r.header.Get("total"), &n); err != nil || n < 0 {
		return 0, unavailable(errors.New("list has no total"))
	}
	return n, nil
}

// list reads documents one by one, so that no page is in memory as a whole. It gives the number of all matches.
func list[T any](ctx context.Context, s *Server, operation string, sel selection, each func(T) error) (int, error) {
	path, err := sel.path()
	if err != nil {
		return 0, err
	}
	var refused error
	r, err := s.send(ctx, call{
		operation: operation, method: http.MethodGet, path: path,
		take: func(body io.Reader) error {
			return read(body, func(one T) error {
				if refused = each(one); refused != nil {
					return fmt.Errorf("%w: %w", errTaken, refused)
				}
				return nil
			})
		},
	})
	if refused != nil {
		return 0, refused
	}
	if err != nil {
		return 0, err
	}
	return total(r)
}

// read decodes a list.
func read[T any](body io.Reader, each func(T) error) error {
	decoder := json.NewDecoder(body)
	open, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%w: it is no list", errForeign)
	}
	for decoder.More() {
		var one T
		if err := decoder.Decode(&one); err != nil {
			return fmt.Errorf("read list: %w", err)
		}
		if err := each(one); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("read the end of a list: %w", err)
	}
	return nil
}
