package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// apiClient talks to the service as a person's program would: over HTTP, with a token. It dials the listener's address
// and names the host, since *.localhost does not resolve everywhere (docs/rules/setup.md#local-names).
type apiClient struct {
	addr  string // of the listener
	host  string
	token string
}

// answer is a decoded JSON object.
type answer map[string]any

// text is a field of the object, "" when it is none.
func (a answer) text(field string) string {
	s, _ := a[field].(string)
	return s
}

// apiError is an answer that says no.
type apiError struct {
	Status int
	Body   string
	Code   string
}

// Error gives status and body.
func (e *apiError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// httpPatience bounds one request of the seeding.
const httpPatience = 30 * time.Second

// call sends a request. key is the Idempotency-Key: repeating the call does nothing twice. A status from 400 on is an
// error.
func (c apiClient) call(ctx context.Context, method, path, key string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, httpPatience)
	defer cancel()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+path, in)
	if err != nil {
		return nil, err
	}
	req.Host = c.host
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var out answer
	_ = json.Unmarshal(text, &out) // an answer without an object has no fields
	if res.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %w", method, path, &apiError{
			Status: res.StatusCode, Body: string(text), Code: out.text("code"),
		})
	}
	return out, nil
}

// text gets an answer that is no JSON.
func (c apiClient) text(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, httpPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+path, nil)
	if err != nil {
		return "", err
	}
	req.Host = c.host
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %w", path, &apiError{Status: res.StatusCode, Body: string(text)})
	}
	return string(text), err
}

// login gives a client with a session of its own, and whether the password must be changed first.
func (c apiClient) login(ctx context.Context, email, password string) (apiClient, bool, error) {
	out, err := c.call(ctx, http.MethodPost, "/auth/login", "", map[string]string{"email": email, "password": password})
	if err != nil {
		return c, false, err
	}
	c.token = out.text("accessToken")
	must, _ := out["mustChangePassword"].(bool)
	return c, must, nil
}

// until calls check every now and then until it holds; what is said when time runs out.
func until(ctx context.Context, what string, check func(ctx context.Context) (bool, error)) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		ok, err := check(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (%w)", what, ctx.Err(), orNothing(last))
		case <-tick.C:
		}
	}
}

// errNothing stands for the absence of an error in a message.
var errNothing = fmt.Errorf("no error")

// orNothing is err, or errNothing.
func orNothing(err error) error {
	if err == nil {
		return errNothing
	}
	return err
}
