package networkapi

import (
	"context"
	"html"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Redirect answers the plain web pages of customers in the walled garden, which routers send through the tunnel: it
// leads every request to the payment page of the router's organization, whatever host and path it names. So does the
// probe by which a phone finds out that it must show a page. Only the address in the tunnel counts, which nobody can
// choose (docs/rules/access-walled-garden.md#redirect). All fields are required. Safe for concurrent use.
type Redirect struct {
	// Page gives the address of the payment page for a router's address in the tunnel; "" = it is no router's.
	Page   func(ctx context.Context, router netip.Addr) (string, error)
	Clock  clock.Clock
	Logger *slog.Logger

	known sync.Map // netip.Addr -> known
}

// known is the answer for a router, which is kept because phones ask often.
type known struct {
	page  string
	until time.Time
}

// pageKept is how long the page of a router is known. A router that moves to another organization gets another address
// in the tunnel.
const pageKept = time.Minute

// ServeHTTP answers 302, or 303 to a request that is no reading. A stranger gets 404.
func (d *Redirect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close") // the next page of the phone is elsewhere
	h.Set("Content-Type", "text/html; charset=utf-8")
	page, err := d.pageOf(r)
	if err != nil {
		d.Logger.WarnContext(r.Context(), "payment page not found", "error", err)
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	if page == "" {
		http.Error(w, "There is nothing at this address.", http.StatusNotFound)
		return
	}
	h.Set("Location", page)
	status := http.StatusFound
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		status = http.StatusSeeOther
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`<!doctype html><title>Payment</title><a href="` + html.EscapeString(page) + `">Pay</a>`))
}

// pageOf gives the payment page for the router that a request came from.
func (d *Redirect) pageOf(r *http.Request) (string, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "", err
	}
	router, now := from.Addr().Unmap().WithZone(""), clock.Pace(d.Clock).Now()
	if k, found := d.known.Load(router); found && now.Before(k.(known).until) { //nolint:forcetypeassert // see Store
		return k.(known).page, nil //nolint:forcetypeassert // see Store
	}
	page, err := d.Page(r.Context(), router)
	if err == nil && page != "" { // strangers are not remembered: they can be many
		d.known.Store(router, known{page, now.Add(pageKept)})
	}
	return page, err
}
