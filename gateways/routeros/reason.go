package routeros

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// reasons are the words for the errors of connections, the first that fits. People read them: the language's own texts
// name sockets, and the library's name its parts.
var reasons = []struct {
	fits  func(error) bool
	words string
}{
	{is(errAway), errAway.Error()},
	{is(errNotSpoken), "no service of a router answers there"},
	{timedOut, "timed out"},
	{is(context.Canceled), "cancelled"},
	{is(syscall.ECONNREFUSED), "connection refused"},
	{is(syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN), "no route to it"},
	{is(syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed),
		"the connection was closed"},
	{notTLS, "its encryption was not understood"},
}

// is fits an error that has one of these in its chain.
func is(marks ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(marks, func(mark error) bool { return errors.Is(err, mark) })
	}
}

// timedOut fits a deadline that has passed, whoever set it.
func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// notTLS fits the answer of something that does not speak TLS, or speaks it in a way of its own.
func notTLS(err error) bool {
	var header tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &header) || errors.As(err, &alert)
}

// reason gives the words for the error of a connection: of one that reasons does not have, the words of its innermost
// cause.
func reason(err error) string {
	for _, r := range reasons {
		if r.fits(err) {
			return r.words
		}
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return printable(first)
}

// Why says in one sentence why a router could not be asked, for people: it has no ids and no words of the program's
// inside. Source: docs/rules/network.md#silent-routers.
func Why(err error) string {
	var open *breaker.OpenError
	var lost *Lost
	switch {
	case errors.As(err, &open):
		return "The router is left alone for a while after several failures (" + open.Last + ")."
	case errors.As(err, &lost):
		return Sentence(lost.Error())
	}
	for known := new(failure.Error); errors.As(err, &known); err = known.Cause {
		if known.Cause == nil {
			return known.Message // the innermost failure knows best
		}
	}
	return "The router cannot be reached: " + reason(err) + "."
}

// Sentence writes the last error of a router's breaker with a capital and a stop. The error may begin with any letter:
// a router's own words are in its owner's language.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}
