package paymentsapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// CallbackKeeper keeps callbacks that tell of money on the disk. Source: docs/rules/payments.md#kept-on-the-disk.
type CallbackKeeper interface {
	// Receive keeps a callback and gives the answer, as that of CallbackReceiver.
	Receive(ctx context.Context, kind, token, ip string, body []byte) (any, error)
}

// Starting serves the addresses of callbacks that tell of money while the program starts, because the provider sends
// such a callback once. A validation is not among them: nobody can say yet whether the account exists.
type Starting struct {
	Keeper         CallbackKeeper
	TrustedProxies []netip.Prefix
	Else           http.Handler // for every other request
	Logger         *slog.Logger
}

// Handler serves the addresses, each without and with a secret token.
func (s Starting) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, kind := range map[string]string{
		"/webhooks/mobile-money/stk": "stk", "/webhooks/mobile-money/stk/{token}": "stk",
		"/webhooks/mobile-money/c2b/confirmation":         "c2b_confirmation",
		"/webhooks/mobile-money/c2b/confirmation/{token}": "c2b_confirmation",
		"/webhooks/billmanager/payment":                   "billmanager_payment",
	} {
		mux.HandleFunc("POST "+path, s.keep(kind))
	}
	mux.Handle("/", s.Else)
	return mux
}

// keep keeps a callback of a kind.
func (s Starting) keep(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, callbackBodyLimit))
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			httpapi.SendFailure(r.Context(), w, httpapi.BodyTooLarge(callbackBodyLimit))
			return
		}
		if err != nil {
			return // the sender has gone
		}
		var text []byte
		answer, err := s.Keeper.Receive(r.Context(), kind, r.PathValue("token"),
			httpapi.ClientIP(r, s.TrustedProxies), body)
		if err == nil {
			text, err = json.Marshal(answer)
		}
		if err != nil {
			if failure.KindOf(err) == failure.Unavailable || failure.KindOf(err) == failure.Internal {
				s.Logger.WarnContext(r.Context(), "callback was not kept while the program starts", "kind", kind,
					"error", err)
			}
			httpapi.SendFailure(r.Context(), w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(text) // it fails only when the sender has gone; the callback is kept
	}
}
