package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// apiClient calls the API over HTTP with a token, as any other program would. It dials the listener's address and names
// the host in a header, since *.localhost does not resolve everywhere (docs/rules/setup.md#local-names).
type apiClient struct {
	addr  string // of the listener
	host  string
	token string
	again *credentials // nil = an expired token is refused
}

// credentials sign a client in again when its token has expired, as after a move of the clock. Copies of the client
// share them. They are not safe for concurrent use.
type credentials struct{ email, password, token string }

// staying gives a client that signs in again when its token has expired, and tries a call again that may pass.
func (c apiClient) staying(email, password string) apiClient {
	c.again = &credentials{email: email, password: password, token: c.token}
	return c
}

// bearer is the present token; "" = not signed in.
func (c apiClient) bearer() string {
	if c.again != nil {
		return c.again.token
	}
	return c.token
}

// expired reports whether a call was refused because the token has expired, and the client has signed in again.
func (c apiClient) expired(ctx context.Context, err error) bool {
	var no *apiError
	if c.again == nil || !errors.As(err, &no) || no.Status != http.StatusUnauthorized {
		return false
	}
	in, _, err := apiClient{addr: c.addr, host: c.host}.login(ctx, c.again.email, c.again.password)
	if err == nil {
		c.again.token = in.token
	}
	return err == nil
}

// answer is a decoded JSON object.
type answer map[string]any

// text gives a field of the object; "" when the field is missing or is not a text.
func (a answer) text(field string) string {
	s, _ := a[field].(string)
	return s
}

// apiError is an answer with a status of 400 or more.
type apiError struct {
	Status int
	Body   string
	Code   string
}

// Error gives status and body.
func (e *apiError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// httpPatience bounds one request of an apiClient.
const httpPatience = 30 * time.Second

// call sends a request. key is the Idempotency-Key, with which a repetition has no second effect; "" = none. A status
// of 400 or more is an *apiError.
func (c apiClient) call(ctx context.Context, method, path, key string, body any) (answer, error) {
	out, err := c.send(ctx, method, path, key, body)
	if c.expired(ctx, err) {
		out, err = c.send(ctx, method, path, key, body)
	}
	limited, cancel := context.WithTimeout(ctx, passingPatience)
	defer cancel()
	for pause := (loop.Backoff{Min: longLook, Max: longPause}); c.passing(err) && pause.Wait(limited); {
		out, err = c.send(ctx, method, path, key, body)
	}
	return out, err
}

// The pauses of a call that is tried again, and how long it is.
const (
	longPause       = 2 * time.Second
	passingPatience = 3 * time.Minute
)

// passing reports whether a call may be tried again because its refusal passes by itself: another one with its key is
// running, whose lease ends within a minute when the program was killed in it, or the program cannot serve it at the
// moment, as on a machine that stands still for some seconds. All calls of a client that stays may be repeated.
func (c apiClient) passing(err error) bool {
	var no *apiError
	return c.again != nil && errors.As(err, &no) &&
		(no.Code == "idempotency_key_running" || no.Status == http.StatusServiceUnavailable)
}

// send is call without another sign-in.
func (c apiClient) send(ctx context.Context, method, path, key string, body any) (answer, error) {
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
	if token := c.bearer(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
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

// text gets an answer that is not JSON, such as a bootstrap script.
func (c apiClient) text(ctx context.Context, path string) (string, error) {
	out, err := c.get(ctx, path)
	if c.expired(ctx, err) {
		return c.get(ctx, path)
	}
	return out, err
}

// get is text without another sign-in.
func (c apiClient) get(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, httpPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+path, nil)
	if err != nil {
		return "", err
	}
	req.Host = c.host
	req.Header.Set("Authorization", "Bearer "+c.bearer())
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

// login signs in and gives a client with the new session's token. It returns true when the password must be changed
// first.
func (c apiClient) login(ctx context.Context, email, password string) (apiClient, bool, error) {
	out, err := c.call(ctx, http.MethodPost, "/auth/login", "", map[string]string{"email": email, "password": password})
	if err != nil {
		return c, false, err
	}
	c.token = out.text("accessToken")
	must, _ := out["mustChangePassword"].(bool)
	return c, must, nil
}

// The pauses between two looks of until: short ones first, because most of what is awaited comes at once.
const (
	firstLook = 5 * time.Millisecond
	longLook  = 100 * time.Millisecond
)

// until calls check again and again until it gives true. what names the awaited condition in the error when ctx ends.
func until(ctx context.Context, what string, check func(ctx context.Context) (bool, error)) error {
	pause := loop.Backoff{Min: firstLook, Max: longLook}
	var last error
	for {
		ok, err := check(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		if !pause.Wait(ctx) {
			return fmt.Errorf("%s: %w (%w)", what, ctx.Err(), orNothing(last))
		}
	}
}

// errNothing stands in a message when the last check failed without an error.
var errNothing = fmt.Errorf("no error")

// orNothing gives err, or errNothing when err is nil, so that %w always has an error.
func orNothing(err error) error {
	if err == nil {
		return errNothing
	}
	return err
}
