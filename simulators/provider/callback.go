package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// callback is one message from the provider to the owner of a shortcode.
type callback struct {
	kind string // "stk", "c2b" or "status"
	id   string // CheckoutRequestID, receipt number or conversation
	code int    // ResultCode of a prompt; late_success sends two verdicts
	url  string
	body any
}

// Delivery is one attempt to deliver a callback, listed at GET /sim/callbacks.
type Delivery struct {
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Status int       `json:"status"` // of HTTP; 0 without an answer, or when the callback was dropped
	Error  string    `json:"error,omitempty"`
}

// callbackTimeout bounds the wait for the answer to a callback. The provider does not retry.
const callbackTimeout = 8 * time.Second

// item is one entry of a callback's metadata; Balance has no value.
type item struct {
	Name  string
	Value any `json:",omitempty"`
}

// promptCallback makes the message with the verdict on a prompt; t is nil unless money moved. The lock is held.
func (s *Simulator) promptCallback(p *prompt, t *Transaction) callback {
	result := map[string]any{
		"MerchantRequestID": p.merchantID, "CheckoutRequestID": p.checkoutID,
		"ResultCode": p.code, "ResultDesc": resultText(p.code),
	}
	if t != nil {
		// Both receipt names and both ways to write an amount are in use. Source:
		// docs/facts/mobile-money.md#prompt-callback.
		n := len(s.book.transactions)
		name, value := "MpesaReceiptNumber", json.Number(t.Amount.Decimal())
		if n%2 == 0 {
			name, value = "MobileMoneyReceiptNumber", json.Number(strings.TrimSuffix(t.Amount.Decimal(), ".00"))
		}
		if s.cfg.ReceiptItem != "" {
			name = s.cfg.ReceiptItem
		}
		result["CallbackMetadata"] = map[string][]item{"Item": {
			{Name: "Amount", Value: value},
			{Name: name, Value: t.ReceiptNumber},
			{Name: "Balance"},
			{Name: "TransactionDate", Value: json.Number(eat(t.At, stampLayout))},
			{Name: "PhoneNumber", Value: json.Number(p.msisdn)},
		}}
	}
	c := callback{
		kind: "stk", id: p.checkoutID, code: p.code, url: p.callbackURL, body: map[string]any{
			"Body": map[string]any{"stkCallback": result},
		},
	}
	p.last = &c
	return c
}

// post sends callbacks in the background. The faults decide which are dropped, repeated or sent in reverse.
func (s *Simulator) post(callbacks []callback) {
	for _, c := range callbacks {
		copies, held, late := s.copies(c)
		if held {
			if s.hold(c, copies) {
				s.later(s.cfg.ReorderHold, s.release)
			}
			continue
		}
		for range copies {
			s.later(late, func(ctx context.Context) { s.deliver(ctx, c) })
		}
	}
}

// copies gives how often to send a callback, 0 when it is dropped, reports whether callbacks are held for reordering,
// and gives the delay of those that are not.
func (s *Simulator) copies(c callback) (n int, held bool, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.book.faults
	if s.book.happens(f.DropCallbacks, fmt.Sprint("drop ", c.kind, c.id, c.code)) {
		s.book.sent = append(s.book.sent, Delivery{Kind: c.kind, ID: c.id, At: s.cfg.Clock.Now(), Error: "dropped"})
		return 0, false, 0
	}
	return 1 + f.DuplicateCallbacks, f.ReorderCallbacks, time.Duration(f.LateCallbacksMs) * time.Millisecond
}

// hold keeps copies of a callback and reports whether they are the first ones held.
func (s *Simulator) hold(c callback, copies int) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = len(s.book.held) == 0
	for range copies {
		s.book.held = append(s.book.held, c)
	}
	return first
}

// release sends the held callbacks, the newest first, one after the other.
func (s *Simulator) release(ctx context.Context) {
	s.mu.Lock()
	held := s.book.held
	s.book.held = nil
	s.mu.Unlock()
	for i := len(held) - 1; i >= 0; i-- {
		s.deliver(ctx, held[i])
	}
}

// send delivers callbacks before it returns; the fault reorderCallbacks does not apply.
func (s *Simulator) send(ctx context.Context, callbacks []callback) {
	for _, c := range callbacks {
		copies, _, _ := s.copies(c)
		for range copies {
			s.deliver(ctx, c)
		}
	}
}

// deliver makes one attempt and records it. The address is not logged, because its path is a secret.
func (s *Simulator) deliver(ctx context.Context, c callback) {
	status, _, err := s.exchange(ctx, c.url, c.body)
	d := Delivery{Kind: c.kind, ID: c.id, At: s.cfg.Clock.Now(), Status: status}
	if err != nil {
		d.Error = "no answer"
		s.log.Warn("callback not delivered", "kind", c.kind, "callback_id", c.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.sent = append(s.book.sent, d)
}

// exchange posts a body and reads up to 64 KiB of the answer as JSON; an unreadable answer leaves reply nil.
func (s *Simulator) exchange(
	ctx context.Context, address string, body any,
) (status int, reply map[string]any, err error) {
	ctx, cancel := context.WithTimeout(ctx, callbackTimeout)
	defer cancel()
	payload, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	_ = json.NewDecoder(http.MaxBytesReader(nil, w.Body, 64<<10)).Decode(&reply)
	return w.StatusCode, reply, nil
}

// loopbackURL reports whether callbacks may go to an address: an http or https address of this machine.
func loopbackURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopbackHost(u.Hostname())
}

// loopbackHost reports whether a host is this machine; *.localhost is included, although it does not resolve everywhere
// (docs/rules/setup.md#local-names).
func loopbackHost(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// loopbackClient cannot reach another machine, not even by a redirect.
func loopbackClient() *http.Client {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil || !loopbackHost(host) {
			return nil, fmt.Errorf("callback address is not of this machine")
		}
		if _, err := netip.ParseAddr(host); err != nil {
			host = "127.0.0.1"
		}
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(host, port))
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
