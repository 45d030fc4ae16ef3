package httpapi

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Page sizes. Source: docs/rules/http.md#pages.
const (
	defaultPage = 25
	maxPage     = 100
)

// maxCursor bounds a cursor before it is decrypted, in characters.
const maxCursor = 2048

// Envelope is the answer of list endpoints (docs/rules/http.md#pages).
type Envelope[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"nextCursor"`
	HasMore    bool    `json:"hasMore"`
}

// Page is the part of a list that a request asks for. K is the sort key of the list, unique for each row: {createdAt,
// id} and the like.
type Page[K any] struct {
	Limit int
	After *K // the last row of the page before; nil = from the start
}

// Fetch is the number of rows to read: one more than is shown, so that HasMore is known.
func (p Page[K]) Fetch() int { return p.Limit + 1 }

// PageOf reads limit and cursor. A cursor is valid for the same route, tenant and filters only. Fails: invalid_input,
// bad_cursor.
func PageOf[K any](c *Call) (Page[K], error) {
	p := Page[K]{Limit: defaultPage}
	f := c.Filters()
	if text := f.Text("limit"); text != "" || len(f.values["limit"]) > 0 {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			f.Add("limit", "must be a whole number from 1 to %d", maxPage)
		}
		p.Limit = n
	}
	if err := f.Err(); err != nil {
		return p, err
	}
	cursor := f.values.Get("cursor")
	if cursor == "" {
		return p, nil
	}
	after := new(K)
	if len(cursor) > maxCursor || c.openCursor(cursor, after) != nil {
		return p, failure.NewMalformed("bad_cursor",
			"This cursor does not belong to this list. Please read the list from its beginning.")
	}
	p.After = after
	return p, nil
}

// SendPage answers with the envelope. rows has up to Fetch rows in the list's order; the last one is not shown when
// there is one more than Limit.
func SendPage[R, K, T any](
	ctx context.Context, c *Call, p Page[K], rows []R, key func(R) K, show func(R) T,
) error {
	out := Envelope[T]{Data: make([]T, 0, min(len(rows), p.Limit)), HasMore: len(rows) > p.Limit}
	if out.HasMore {
		rows = rows[:p.Limit]
		cursor, err := c.sealCursor(key(rows[len(rows)-1]))
		if err != nil {
			return err
		}
		out.NextCursor = &cursor
	}
	for _, row := range rows {
		out.Data = append(out.Data, show(row))
	}
	forCustomers(c, out.Data)
	if err := nameSubscribers(ctx, c, out.Data); err != nil {
		return err
	}
	return c.Send(200, out)
}

// newCursors makes the cipher of cursors. They are encrypted, because a sort key may be a person's name.
func newCursors(key []byte) (cipher.AEAD, error) {
	if len(key) != 32 {
		return nil, errors.New("the cursor key must have 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// cursorScope joins route, path, tenant and filters, to which a cursor is bound.
func (c *Call) cursorScope() []byte {
	filters := url.Values{}
	for name, values := range c.Request.URL.Query() {
		if name != "limit" && name != "cursor" {
			filters[name] = values
		}
	}
	return []byte(strings.Join([]string{c.route.Method, c.route.Path, c.Request.URL.Path, c.Org.ID.String(),
		filters.Encode()}, "\x00"))
}

// sealCursor encrypts a sort key; the same key gives another cursor each time.
func (c *Call) sealCursor(key any) (string, error) {
	plain, err := json.Marshal(key)
	if err != nil {
		return "", fmt.Errorf("make cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(c.server.cursors.Seal(nil, nil, plain, c.cursorScope())), nil
}

// openCursor decrypts a cursor into key; one of another scope or key fails.
func (c *Call) openCursor(cursor string, key any) error {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return err
	}
	plain, err := c.server.cursors.Open(nil, nil, sealed, c.cursorScope())
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, key)
}
