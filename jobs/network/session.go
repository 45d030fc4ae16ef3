package networkjobs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// menuCookie has the devices that a hotspot signs in again by themselves.
const menuCookie = "ip/hotspot/cookie"

// OnlineSession names one session to a router.
type OnlineSession struct {
	Hotspot bool // else PPP
	User    string
	Key     string // Acct-Session-Id, which the menu shows with 0x before it; "" = all PPP sessions of the user
	Address string // "" = not known
	MAC     string // "" = not known
}

// menu is the list in which the router has the session, and where it is found there.
func (s OnlineSession) menu() (menu string, where map[string]string) {
	if s.Hotspot {
		return routerplan.MenuHotspotActive, map[string]string{"user": s.User}
	}
	return routerplan.MenuPPPActive, map[string]string{"name": s.User}
}

// is reports whether a row is the session, and not another one of the same user. A router may give more rows than those
// of the user, so the name is compared again.
func (s OnlineSession) is(row routeros.Item) bool {
	at := s.Address == "" || row["address"] == "" || row["address"] == s.Address
	if s.Hotspot {
		mac := row["mac-address"]
		return row["user"] == s.User && at && (s.MAC == "" || mac == "" || strings.EqualFold(mac, s.MAC))
	}
	key := strings.TrimPrefix(strings.ToLower(row["session-id"]), "0x")
	if key == "" || s.Key == "" {
		return row["name"] == s.User && at
	}
	return row["name"] == s.User && key == strings.ToLower(s.Key)
}

// EndSession removes a session from the active list of a router, and reports whether it was there. The list is read
// again afterwards: a session that is still there is an error. Fails: device_not_found, device_unreachable.
func (w *Workers) EndSession(ctx context.Context, device id.Device, s OnlineSession) (bool, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (bool, error) {
		menu, _ := s.menu()
		if err := forgetCookies(ctx, r, s); err != nil {
			return false, err
		}
		rows, err := sessionRows(ctx, r, s)
		if err != nil || len(rows) == 0 {
			return false, err
		}
		for _, row := range rows {
			if err := r.Remove(ctx, menu, row.ID()); err != nil && !routeros.IsMissing(err) {
				return false, err
			}
		}
		rows, err = sessionRows(ctx, r, s)
		if err == nil && len(rows) > 0 {
			words := "the session is still there after its removal"
			err = &failure.Error{Kind: failure.Refused, Code: "router_refused", Message: words}
		}
		return true, err
	})
}

// forgetCookies removes what would sign the device of a hotspot's session in again by itself, with the same username.
// Cookies of other users and devices are not ours to remove.
func forgetCookies(ctx context.Context, r router, s OnlineSession) error {
	if !s.Hotspot || s.User == "" || s.MAC == "" {
		return nil
	}
	rows, err := r.Print(ctx, menuCookie, routeros.Query{Where: map[string]string{"user": s.User}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if !strings.EqualFold(row["mac-address"], s.MAC) {
			continue
		}
		if err := r.Remove(ctx, menuCookie, row.ID()); err != nil && !routeros.IsMissing(err) {
			return err
		}
	}
	return nil
}

// sessionRows reads the active list; more than one row is possible, because a PPP row may come without an id.
func sessionRows(ctx context.Context, r router, s OnlineSession) ([]routeros.Item, error) {
	menu, where := s.menu()
	items, err := r.Print(ctx, menu, routeros.Query{Where: where})
	if err != nil {
		return nil, err
	}
	var found []routeros.Item
	for _, row := range items {
		if s.is(row) {
			found = append(found, row)
		}
	}
	return found, nil
}

// SessionLimit reads the limit of the dynamic queue of a session, upload and download in bit/s as the router has them.
// It is "" when the router shows no queue of the session. The router is asked for single rows, because it may have
// thousands of queues.
func (w *Workers) SessionLimit(ctx context.Context, device id.Device, s OnlineSession) (string, error) {
	if s.Address == "" {
		return "", nil
	}
	return ask(ctx, w, device, func(ctx context.Context, r router) (string, error) {
		where := map[string]string{"target": s.Address + "/32"}
		if !s.Hotspot {
			ports, err := r.Print(ctx, routerplan.MenuAddress, routeros.Query{
				Where: map[string]string{"network": s.Address},
			})
			at := slices.IndexFunc(ports, func(a routeros.Item) bool { return s.named("<pppoe-", a["interface"]) })
			if err != nil || at < 0 {
				return "", err
			}
			where = map[string]string{"name": ports[at]["interface"]}
		}
		queues, err := r.Print(ctx, "queue/simple", routeros.Query{Where: where})
		for _, q := range queues {
			if q["dynamic"] == "true" && (!s.Hotspot || s.named("<hotspot-", q["name"])) {
				return q["max-limit"], err
			}
		}
		return "", err
	})
}

// named reports whether a router gave a name to a session of the user: <pppoe-USER>, or <pppoe-USER-1> for another one
// of the same user. Names of other users can end alike, or begin alike.
func (s OnlineSession) named(kind, name string) bool {
	rest, ok := strings.CutPrefix(name, kind+s.User)
	rest, closed := strings.CutSuffix(rest, ">")
	number, more := strings.CutPrefix(rest, "-")
	_, err := strconv.ParseUint(number, 10, 16)
	return ok && closed && (rest == "" || more && err == nil)
}
