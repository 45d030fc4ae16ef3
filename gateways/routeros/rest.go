package routeros

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// maxAnswer bounds an answer, in bytes: a full table of some thousand sessions is about 2 MB.
const maxAnswer = 32 << 20

// rest speaks REST to one device over HTTP connections of its own.
type rest struct {
	l      *link
	base   string
	client *http.Client
}

// newREST makes the REST protocol of a place; nothing is dialled yet.
func newREST(l *link, p place) *rest {
	scheme := "http"
	if p.secure {
		scheme = "https"
	}
	base := scheme + "://" + netip.AddrPortFrom(l.target.Address, p.port).String() + "/rest/"
	return &rest{l: l, base: base, client: l.g.client()}
}

// close drops idle connections, so that the next call of the device needs a new one.
func (c *rest) close() { c.client.CloseIdleConnections() }

// do makes one exchange. A device that refuses ids in paths gets the command form from then on.
func (c *rest) do(ctx context.Context, r request) ([]Item, error) {
	switch {
	case r.command == "print" && len(r.args) == 0:
		return c.print(ctx, r)
	case r.command == "add":
		return c.send(ctx, http.MethodPut, r.menu, r.args)
	case r.id == "":
		return c.send(ctx, http.MethodPost, r.menu+"/"+r.command, r.args)
	case c.l.postsIDs():
		return c.post(ctx, r)
	}
	method := http.MethodPatch
	if r.command == "remove" {
		method = http.MethodDelete
	}
	items, err := c.send(ctx, method, r.menu+"/"+r.id, r.args)
	if refusesIDs(err) {
		c.l.postIDs()
		return c.post(ctx, r)
	}
	return items, err
}

// post sends the command form, with the id in the body.
func (c *rest) post(ctx context.Context, r request) ([]Item, error) {
	args := map[string]string{".id": r.id}
	for name, value := range r.args {
		args[name] = value
	}
	return c.send(ctx, http.MethodPost, r.menu+"/"+r.command, args)
}

// plainValue matches values that need no escape in a URL's query.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9.:_/-]*$`)

// print reads a menu. Values that need an escape go into the body, because it is not documented how a router unescapes
// a URL.
func (c *rest) print(ctx context.Context, r request) ([]Item, error) {
	words := []string{}
	plain := true
	for _, name := range slices.Sorted(maps.Keys(r.where)) {
		words = append(words, name+"="+r.where[name])
		plain = plain && plainValue.MatchString(r.where[name])
	}
	if !plain {
		body := map[string]any{".query": words}
		if r.props != nil {
			body[".proplist"] = r.props
		}
		return c.send(ctx, http.MethodPost, r.menu+"/print", body)
	}
	if r.props != nil {
		words = append(words, ".proplist="+strings.Join(r.props, ","))
	}
	path := r.menu
	if len(words) > 0 {
		path += "?" + strings.Join(words, "&")
	}
	return c.send(ctx, http.MethodGet, path, nil)
}

// send makes one HTTP exchange and reads its answer. A nil body of a write is sent as {}.
func (c *rest) send(ctx context.Context, method, path string, body any) ([]Item, error) {
	var payload []byte
	if method != http.MethodGet && method != http.MethodDelete {
		payload = []byte("{}")
		if args, ok := body.(map[string]string); !ok || args != nil {
			var err error
			if payload, err = json.Marshal(body); err != nil {
				return nil, err
			}
		}
	}
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { wrote.Store(true) },
	})
	// The URL is put together as text: url.URL would escape the "*" of an id, and the router would not find the id.
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(c.l.target.Credentials.User, c.l.target.Credentials.Password)
	req.Header.Set("Accept", "application/json")
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.GetBody = http.NoBody, nil
	}
	w, err := c.client.Do(req)
	if err != nil {
		return nil, broken(wrote.Load(), err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errors.New("answer is too large")
	}
	if err != nil {
		return nil, lost(true, fmt.Errorf("read answer: %w", err))
	}
	return read(w, text, method == http.MethodGet || method == http.MethodPost && strings.HasSuffix(path, "/print"))
}

// broken distinguishes a closed port, which means another protocol, from a router that is away.
func broken(wrote bool, err error) error {
	var op *net.OpError
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the URL
	}
	if errors.Is(err, errForbidden) {
		return err
	}
	if errors.As(err, &op) && op.Op == "dial" &&
		(errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")) {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return lost(wrote, err)
}

// read makes items or a refusal out of a response. An answer that is not JSON does not come from a router's REST.
func read(w *http.Response, text []byte, reading bool) ([]Item, error) {
	if !reading && (w.StatusCode == http.StatusNoContent || w.StatusCode < 300 && len(bytes.TrimSpace(text)) == 0) {
		return nil, nil
	}
	clean := sanitise(text)
	if !json.Valid(clean) {
		if !reading {
			return nil, lost(true, fmt.Errorf("answer with status %d is not JSON", w.StatusCode))
		}
		return nil, fmt.Errorf("%w: answer with status %d is not JSON", errNotSpoken, w.StatusCode)
	}
	if w.StatusCode >= http.StatusMultipleChoices {
		var body struct {
			Message string `json:"message"`
			Detail  string `json:"detail"`
		}
		if err := json.Unmarshal(clean, &body); err != nil || body.Message == "" && body.Detail == "" {
			return nil, fmt.Errorf("%w: answer with status %d is not in the router's form", errNotSpoken, w.StatusCode)
		}
		if body.Detail == "" {
			body.Detail = body.Message
		}
		return nil, &Refusal{Status: w.StatusCode, Message: body.Detail}
	}
	items, err := decode(clean)
	if err != nil {
		return nil, lost(true, err)
	}
	return items, nil
}

// maxItems bounds the items of an answer: an item needs much more memory than bytes on the wire.
const maxItems = 100_000

// errTooMany refuses an answer with more than maxItems items.
var errTooMany = errors.New("answer has too many items")

// decode reads an item or a list of items, one item at a time, so that maxItems stops it early.
func decode(text []byte) ([]Item, error) {
	text = bytes.TrimSpace(text)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if len(text) > 0 && text[0] == '{' {
		item, err := decodeItem(decoder)
		return []Item{item}, err
	}
	open, err := decoder.Token()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read items: %w", err)
	case open == nil:
		return []Item{}, nil
	case open != json.Delim('['):
		return nil, fmt.Errorf("read items: a list begins with %v", open)
	}
	items := []Item{}
	for decoder.More() {
		if len(items) == maxItems {
			return nil, errTooMany
		}
		item, err := decodeItem(decoder)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// decodeItem reads the next item. Null properties are left out.
func decodeItem(decoder *json.Decoder) (Item, error) {
	var raw map[string]any
	if err := decoder.Decode(&raw); err != nil {
		return nil, fmt.Errorf("read item: %w", err)
	}
	item := make(Item, len(raw))
	for name, value := range raw {
		if value != nil {
			item[name] = printable(fmt.Sprint(value)) // almost all values are texts, some are numbers
		}
	}
	return item, nil
}
