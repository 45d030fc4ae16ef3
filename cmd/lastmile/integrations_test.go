package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// list reads all rows of a list, such as "/invoices", page by page. base is "https://" and the organization's host.
func list(ctx context.Context, base, key, path string, each func(row json.RawMessage) error) error {
	for cursor := ""; ; {
		query := url.Values{"limit": {"100"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var page struct {
			Data       []json.RawMessage `json:"data"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := read(ctx, key, base+path+"?"+query.Encode(), &page); err != nil {
			return err
		}
		for _, row := range page.Data {
			if err := each(row); err != nil {
				return err
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// read asks once, and again after the time that the answer names while there is too much to do.
func read(ctx context.Context, key, address string, into any) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case err != nil:
			return err
		case res.StatusCode == http.StatusOK:
			return json.Unmarshal(body, into)
		case res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable:
			return fmt.Errorf("%s: %s", res.Status, body)
		}
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(max(seconds, 1)) * time.Second):
		}
	}
}

// catchUp reads what happened after a position, and gives the position after which to read the next time. Several
// messages can have one position: it counts when each has taken all of them.
func catchUp(
	ctx context.Context, base, key string, after uint64, each func(message json.RawMessage) error,
) (uint64, error) {
	path := base + "/outbox?limit=100&after=" + strconv.FormatUint(after, 10)
	stored := after
	for cursor := ""; ; {
		var page struct {
			Data       []json.RawMessage `json:"data"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := read(ctx, key, path+"&cursor="+url.QueryEscape(cursor), &page); err != nil {
			return stored, err
		}
		for _, message := range page.Data {
			var of struct {
				Position uint64 `json:"position"`
			}
			if err := json.Unmarshal(message, &of); err != nil {
				return stored, err
			}
			if of.Position != after {
				stored, after = after, of.Position
			}
			if err := each(message); err != nil {
				return stored, err
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return after, nil
		}
	}
}

// write sends one thing. A repeat with the same once has no second effect, so whoever got no answer may call it again.
func write(ctx context.Context, key, once, method, address string, body any) (json.RawMessage, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", once)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	return answer, err
}

// integrationsFile is the manual of integrators, relative to this package.
const integrationsFile = "../../docs/integrations.md"

// TestIntegrations_TheExamplesAreThese: the manual has the functions of this file, beside that of webhooks.
func TestIntegrations_TheExamplesAreThese(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile(integrationsFile)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("integrations_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(manual, -1)
	if len(examples) != 4 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples[1:] {
		if !strings.Contains(string(source), "\n"+string(example[1])) {
			t.Errorf("this file has not the example\n%s", example[1])
		}
	}
}

// asIntegrator has the examples of the manual reach this program under the name of the organization's host.
func (k *kit) asIntegrator() string {
	k.t.Helper()
	dial := (&net.Dialer{}).DialContext
	before := http.DefaultClient.Transport
	http.DefaultClient.Transport = &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "acme.lastmile.test:") {
				address = k.addr
			}
			return dial(ctx, network, address)
		},
	}
	atEnd(k.t, func() {
		http.DefaultClient.CloseIdleConnections()
		http.DefaultClient.Transport = before
	})
	return "http://acme.lastmile.test"
}

// TestIntegrations_ASecondSystemReadsAndWritesByKey: with the functions of the manual, as an administrator of the
// organization makes the key. It is not parallel, since the examples use the client of the standard library.
func TestIntegrations_ASecondSystemReadsAndWritesByKey(t *testing.T) { //nolint:paralleltest // as it says
	k := newKit(t, "RATE_LIMIT_USER=200").start().signIn()
	base, ctx := k.asIntegrator(), t.Context()
	made, _ := k.apiKey(map[string]any{"scopes": []string{"subscribers:write", "outbox:read"}})
	key := made.text("key")
	for n := range 120 {
		phone := fmt.Sprintf("+2547110%05d", n)
		body := map[string]string{"firstName": "Customer", "phone": phone}
		first, err := write(ctx, key, phone, http.MethodPost, base+"/subscribers", body)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			continue
		}
		if again, err := write(ctx, key, phone, http.MethodPost, base+"/subscribers", body); err != nil ||
			!bytes.Equal(first, again) {
			t.Errorf("a repeat: %s, %v; first %s", again, err, first)
		}
		body["firstName"] = "Another"
		_, err = write(ctx, key, phone, http.MethodPost, base+"/subscribers", body)
		if err == nil || !strings.Contains(err.Error(), "idempotency_key_reused") {
			t.Errorf("another body under the key: %v", err)
		}
	}
	k.shown()
	seen := map[string]bool{}
	err := list(ctx, base, key, "/subscribers", func(row json.RawMessage) error {
		var of struct{ ID string }
		defer func() { seen[of.ID] = true }()
		return json.Unmarshal(row, &of)
	})
	if err != nil || len(seen) != 120 {
		t.Errorf("%d customers, %v", len(seen), err)
	}
	k.integratorCatchesUp(base, key)
	none := func(json.RawMessage) error { return nil }
	for path, code := range map[string]string{"/invoices": "scope_required", "/api-keys": "api_key_not_allowed"} {
		if err := list(ctx, base, key, path, none); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
	k.must(k.admin, "DELETE", "/api-keys/"+made.text("id"), nil)
	err = list(ctx, base, key, "/subscribers", none)
	if err == nil || !strings.Contains(err.Error(), "api_key_revoked") {
		t.Errorf("a revoked key: %v", err)
	}
}

// integratorCatchesUp reads the outbox from the beginning, and then only what has happened since.
func (k *kit) integratorCatchesUp(base, key string) {
	k.t.Helper()
	from := uint64(0)
	for n := range 2 {
		k.invoicedFor(10+n, 100+n)
		var types []string
		k.eventually("the invoice in the outbox", func(ctx context.Context) (bool, error) {
			at, err := catchUp(ctx, base, key, from, func(message json.RawMessage) error {
				var of struct{ Type string }
				defer func() { types = append(types, of.Type) }()
				return json.Unmarshal(message, &of)
			})
			if len(types) > 0 && at == from {
				return false, fmt.Errorf("stands still at %d", at)
			}
			from = at
			return len(types) > 0, err
		})
		if strings.Join(types, " ") != "invoice.created" {
			k.t.Errorf("round %d: %v", n, types)
		}
	}
}
