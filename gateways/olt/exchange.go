package olt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// maxAnswer bounds an answer, in bytes. Real ones are under 1 KiB.
const maxAnswer = 64 << 10

// maxMessage bounds the words of a refusal, in bytes.
const maxMessage = 500

// refusals are the codes of the system that a person can act upon, and what they mean. Source:
// docs/facts/olt.md#protocol.
var refusals = map[string]error{
	"olt_not_found":    failure.NewConflict("olt_not_found", "The organization has no terminal of this name."),
	"port_not_found":   failure.NewConflict("olt_port_not_found", "The terminal has no such port."),
	"onu_not_found":    failure.NewConflict("onu_not_registered", "The ONU is not registered at this terminal."),
	"onu_not_seen":     failure.NewConflict("onu_not_seen", "No ONU with this serial is on the fibre of this port."),
	"onu_elsewhere":    failure.NewConflict("onu_elsewhere", "The ONU is registered at another port. Remove it there."),
	"port_full":        failure.NewConflict("olt_port_full", "The port has as many ONUs as it can serve."),
	"vlan_not_allowed": failure.NewConflict("olt_vlan_not_allowed", "The terminal does not carry this VLAN."),
}

// unreachable is the code of a system that does not reach the terminal: what is asked for may be done later.
const unreachable = "olt_unreachable"

// wireONU has the fields that an answer tells. Levels are missing while the ONU is offline.
type wireONU struct {
	Serial   string   `json:"serial"`
	Port     string   `json:"port"`
	ONUID    int      `json:"onuId"`
	State    string   `json:"state"`
	VLAN     int      `json:"vlan"`
	Rx       *float64 `json:"rxDbm"`
	Tx       *float64 `json:"txDbm"`
	AtOLT    *float64 `json:"oltRxDbm"`
	Distance int      `json:"distanceM"`
}

// wireRefusal is the body of a refusal.
type wireRefusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Register puts an ONU on a port. Fails: olt_denied, olt_unavailable, olt_refused and the codes of refusals.
func (c *Client) Register(ctx context.Context, at Place, port string) (Reading, error) {
	return c.ask(ctx, call{"register", http.MethodPut, at, "", map[string]string{"port": port}})
}

// SetVLAN puts the service of a registered ONU into a VLAN. Fails as Register.
func (c *Client) SetVLAN(ctx context.Context, at Place, vlan int) (Reading, error) {
	return c.ask(ctx, call{"set VLAN", http.MethodPut, at, "/service", map[string]int{"vlan": vlan}})
}

// Read gives an ONU with its optical levels. Fails as Register.
func (c *Client) Read(ctx context.Context, at Place) (Reading, error) {
	return c.ask(ctx, call{"read", http.MethodGet, at, "", nil})
}

// Remove takes an ONU out; one that is not registered is out. Fails as Register.
func (c *Client) Remove(ctx context.Context, at Place) error {
	_, err := c.ask(ctx, call{"remove", http.MethodDelete, at, "", nil})
	if failure.CodeOf(err) == "onu_not_registered" {
		return nil
	}
	return err
}

// call is one exchange about an ONU.
type call struct {
	operation, method string
	at                Place
	sub               string
	body              any
}

// request makes a call's request. Names that have no form of a path segment fail before anything is sent.
func (c *Client) request(ctx context.Context, of call) (*http.Request, error) {
	if err := errors.Join(CheckOLT(of.at.Organization), CheckOLT(of.at.OLT), CheckSerial(of.at.Serial)); err != nil {
		return nil, fmt.Errorf("place of an ONU: %w", err)
	}
	var body io.Reader
	if of.body != nil {
		text, err := json.Marshal(of.body)
		if err != nil {
			return nil, fmt.Errorf("write a call to the terminals: %w", err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, of.method, c.address+"/organizations/"+of.at.Organization+"/olts/"+
		of.at.OLT+"/onus/"+of.at.Serial+of.sub, body)
	if err != nil {
		return nil, fmt.Errorf("address of the terminals: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// ask sends one request through the breakers, once, and reads its answer.
func (c *Client) ask(ctx context.Context, of call) (out Reading, err error) {
	r, err := c.request(ctx, of)
	if err != nil {
		return Reading{}, err
	}
	began := c.clock.Now()
	err = c.guarded(ctx, of.at, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		out, err = c.roundTrip(r.WithContext(ctx), of)
		return err
	})
	outcome := "done"
	if err != nil {
		outcome = failure.CodeOf(unavailable(err))
	}
	if outcome == "olt_not_found" { // people can ask for names without an end
		c.guard.Forget(BreakerKind, of.at.terminal())
	}
	c.log.InfoContext(ctx, "OLT call", "system", BreakerKind, "operation", of.operation, "target", of.at.OLT,
		"onu", of.at.Serial, "duration", c.clock.Now().Sub(began), "outcome", outcome)
	return out, unavailable(err)
}

// guarded runs a call through the breaker of the system, and that of the terminal. Whoever could not connect says
// something about the system alone. What comes after that, or does not come, is about one terminal: it closes nobody
// else's.
func (c *Client) guarded(ctx context.Context, at Place, do func(ctx context.Context) error) error {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	var err error
	failed := c.guard.Do(ctx, BreakerKind, c.address, func(ctx context.Context) error {
		var asked bool
		refused := c.guard.Do(ctx, BreakerKind, at.terminal(), func(ctx context.Context) error {
			asked = true
			if err = do(ctx); !connected.Load() {
				return breaker.Unsent(err)
			}
			return err
		})
		switch {
		case !asked:
			err = refused
			return breaker.Unsent(err)
		case connected.Load():
			return breaker.Answered(err)
		}
		return err
	})
	if err == nil {
		err = failed
	}
	return err
}

// roundTrip makes the exchange. What is certainly the system's own answer does not count against it.
func (c *Client) roundTrip(r *http.Request, of call) (Reading, error) {
	w, err := c.http.Do(r)
	if err != nil {
		return Reading{}, err
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Reading{}, fmt.Errorf("read answer: %w", err)
	case len(body) > maxAnswer:
		return Reading{}, errors.New("answer is too large")
	}
	switch w.StatusCode {
	case http.StatusNoContent:
		if of.method == http.MethodDelete {
			return Reading{}, nil
		}
	case http.StatusOK, http.StatusCreated:
		return read(body, of.at)
	case http.StatusUnauthorized, http.StatusForbidden:
		return Reading{}, breaker.Answered(denied(w.StatusCode))
	case http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		if refusal := refused(body); refusal != nil {
			return Reading{}, breaker.Answered(refusal)
		}
	case http.StatusServiceUnavailable:
		if codeOf(body).Code == unreachable {
			return Reading{}, breaker.Answered(failure.NewUnavailable("olt_unreachable",
				"The optical line terminal cannot be reached at the moment. It is tried again by itself.", 0, nil))
		}
	}
	return Reading{}, fmt.Errorf("status %d is no answer of the terminals", w.StatusCode)
}

// read takes an ONU apart. An answer about another one is none.
func read(body []byte, at Place) (Reading, error) {
	var w wireONU
	if err := json.Unmarshal(body, &w); err != nil {
		return Reading{}, errors.New("the answer cannot be read")
	}
	known := w.State == "online" || w.State == "offline"
	if w.Serial != at.Serial || CheckPort(w.Port) != nil || !known || w.VLAN != 0 && CheckVLAN(w.VLAN) != nil {
		return Reading{}, errors.New("the answer is not about the ONU that was asked for")
	}
	out := Reading{Port: w.Port, Number: w.ONUID, Online: w.State == "online", VLAN: w.VLAN}
	if w.Rx != nil && w.Tx != nil && w.AtOLT != nil {
		out.Levels = &Levels{Received: *w.Rx, Sent: *w.Tx, ReceivedAtOLT: *w.AtOLT, Distance: w.Distance}
	}
	return out, nil
}

// codeOf reads a refusal; without a code when a body is none.
func codeOf(body []byte) (w wireRefusal) {
	if json.Unmarshal(body, &w) != nil {
		return wireRefusal{}
	}
	return w
}

// refused is the failure that a refusal means, nil when a body is none.
func refused(body []byte) error {
	w := codeOf(body)
	if w.Code == "" {
		return nil
	}
	if known, ok := refusals[w.Code]; ok {
		return known
	}
	return failure.NewConflict("olt_refused", "The optical line terminal refuses this: %s.", plain(w.Message))
}

// plain makes words that people read of what a system says: without control characters, and of a limited length.
func plain(text string) string {
	text = strings.ToValidUTF8(text, " ")
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	return strings.ToValidUTF8(text[:min(len(text), maxMessage)], "")
}

// denied is the failure of a system that does not accept the token.
func denied(status int) error {
	return &failure.Error{
		Kind: failure.Refused, Code: "olt_denied",
		Message: "The system of the optical line terminals does not accept the platform's token.",
		Cause:   fmt.Errorf("status %d", status),
	}
}

// unavailable gives a transport error, and the refusal of an open breaker, the code olt_unavailable with its text. Any
// other failure stays as it is.
func unavailable(err error) error {
	var known *failure.Error
	var wait time.Duration
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known) && known.Code != "olt_unavailable":
		return known
	case known != nil:
		wait = known.RetryAfter
	}
	return failure.NewUnavailable("olt_unavailable",
		"The optical line terminals cannot be reached at the moment. It is tried again by itself.", wait, err)
}
