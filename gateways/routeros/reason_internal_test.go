package routeros

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
)

// dialing is an error as the standard library gives it when a connection cannot be opened.
func dialing(err error) error {
	to := &net.TCPAddr{IP: net.IPv4(10, 99, 250, 6), Port: 80}
	op := &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: err}
	return &url.Error{Op: "Get", URL: "http://10.99.250.6/rest", Err: op}
}

func TestWhy_IsOneSentenceForPeople(t *testing.T) {
	t.Parallel()
	call := func(n syscall.Errno) error { return os.NewSyscallError("connect", n) }
	const id = "5c5b2f0e-0000-7000-8000-000000000001"
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"deadline": {lost(false, dialing(context.DeadlineExceeded)), "Router not reached: timed out."},
		"time-out": {lost(false, dialing(os.ErrDeadlineExceeded)), "Router not reached: timed out."},
		"refused":  {lost(false, dialing(call(syscall.ECONNREFUSED))), "Router not reached: connection refused."},
		"no route": {lost(false, dialing(call(syscall.EHOSTUNREACH))), "Router not reached: no route to it."},
		"no net":   {lost(false, dialing(call(syscall.ENETUNREACH))), "Router not reached: no route to it."},
		"every way": {lost(false, errAway),
			"Router not reached: connection refused at every port of the router's services."},
		"not a router": {lost(false, errors.Join(fmt.Errorf("%w: it is a web page", errNotSpoken), errClosed)),
			"Router not reached: no service of a router answers there."},
		"no TLS": {lost(false, fmt.Errorf("shake hands: %w", tls.RecordHeaderError{Msg: "no TLS"})),
			"Router not reached: its encryption was not understood."},
		"closed": {lost(true, fmt.Errorf("read answer: %w", io.ErrUnexpectedEOF)),
			"Connection lost after the request was sent: the connection was closed."},
		"reset": {lost(true, dialing(call(syscall.ECONNRESET))),
			"Connection lost after the request was sent: the connection was closed."},
		"silence": {lost(true, cause(expired(t), errors.New("i/o timeout"))),
			"Connection lost after the request was sent: timed out."},
		"another": {lost(false, dialing(call(syscall.EADDRNOTAVAIL))),
			"Router not reached: cannot assign requested address."},
		"no reason": {lost(true, nil), "Connection lost after the request was sent."},
		"no login": {ErrUnreachable(0, errors.New("no router API credentials are stored for this device")),
			"The router cannot be reached: no router API credentials are stored for this device."},
		"its time is over": {ErrUnreachable(0, context.DeadlineExceeded), "The router cannot be reached: timed out."},
		"nothing known":    {ErrUnreachable(0, nil), "The router cannot be reached at the moment. Try again later."},
		"left alone": {ErrUnreachable(time.Minute, &breaker.OpenError{
			Kind: BreakerKind, Target: id, Last: lost(false, dialing(context.DeadlineExceeded)).Error(),
		}), "The router is left alone for a while after several failures (router not reached: timed out)."},
	} {
		for _, err := range []error{c.err, unavailable(t.Context(), c.err)} {
			if c.want != "The router cannot be reached at the moment. Try again later." || err == c.err {
				if got := Why(err); got != c.want {
					t.Errorf("%s: %q", name, got)
				}
			}
			for _, inside := range []string{"dial", id, "10.99", "device_unreachable", "context"} {
				if got := Why(err); strings.Contains(got, inside) {
					t.Errorf("%s tells of the inside: %q", name, got)
				}
			}
		}
	}
}

func TestSentence_BeginsWithACapitalOfAnyAlphabet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "timed out": "Timed out.", "échec de connexion.": "Échec de connexion.", "нет ответа": "Нет ответа.",
		"無応答": "無応答.", "é": "É.", "x": "X.",
	} {
		if got := Sentence(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// expired is a context whose deadline has passed.
func expired(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	t.Cleanup(cancel)
	return ctx
}
