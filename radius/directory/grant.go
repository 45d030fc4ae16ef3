package directory

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Grant has the answer that a router got about one session, or would get now. The zero value is no access.
type Grant struct {
	Access   entitlement.Access
	Down, Up int64 // kbit/s, 0 = no limit
	// Speed and Rest are short digests. Speed is of the whole rate limit with its bursts, which can be changed while a
	// session lasts. Rest is of what only another sign-in changes: username, password, addresses, pools, walled garden.
	Speed, Rest uint32
}

// Stamp is the text of both digests, 16 characters, for comparisons. Equal stamps mean equal answers.
func (g Grant) Stamp() string { return fmt.Sprintf("%08x%08x", g.Speed, g.Rest) }

// UnknownStamp is of a session whose Class does not tell what was granted, because a former version of the program made
// it. No session with access has it otherwise.
var UnknownStamp = Grant{}.Stamp()

// Present has everything that a subscription is entitled to at an instant.
type Present struct {
	Grant     Grant
	Code      entitlement.Code // of the reason that decides
	RateLimit string           // the value of Mikrotik-Rate-Limit; "" = no limit
	Moves     bool             // from device to device, by a sign-in of another one
	Renewed   time.Time        // since when sign-ins prove another password than before; zero = always the same one
	username  string           // "" = of a voucher
	realmless bool             // a name of a session counts without its realm too
	macs      []radius.MAC     // that may use it; none = any may
	byMAC     bool             // these sign in by their MAC alone
	parted    time.Time        // when such a device was taken away last; zero = never
}

// Admits reports whether who has a session that began at an instant could sign in so again: by its name, device and
// password. It is true where that is not sure.
func (p Present) Admits(s Shown, began time.Time) bool {
	return p.Names(s) && (s.MAC == "" || p.Fits(s, began)) && !p.Outlived(s, began)
}

// Outlived reports whether a session that began at an instant was let in by a password that no longer is the
// subscription's. It is false where that is not sure. A hotspot asks no registered device for one; another device that
// it signs in by its MAC is a guest, by the password that was proven on it.
func (p Present) Outlived(s Shown, began time.Time) bool {
	return !p.registered(s) && began.Add(KnownWithin).Before(p.Renewed)
}

// registered reports whether a session is of a device that a hotspot signs in by its MAC for the subscription.
func (p Present) registered(s Shown) bool {
	mac, byMAC := s.byMAC()
	return byMAC && p.byMAC && slices.Contains(p.macs, mac)
}

// Fits reports whether the device of a session that began at an instant may use the subscription. A device that was
// taken away, and that a hotspot has signed in by its MAC alone before, may not, also where any device may.
func (p Present) Fits(s Shown, began time.Time) bool {
	if _, byMAC := s.byMAC(); byMAC && !p.registered(s) && began.Before(p.parted.Add(KnownWithin)) {
		return false
	}
	return p.Allows(s.MAC)
}

// Names reports whether the name of a session is one of the subscription: its username, or at a hotspot the MAC of one
// of its devices, which without registered ones is any that came back by it.
func (p Present) Names(s Shown) bool {
	own, name := loginname.Fold(p.username), loginname.Fold(s.Username)
	if own == "" || own == name || p.realmless && own == loginname.Fold(loginname.WithoutRealm(s.Username)) {
		return true
	}
	_, byMAC := s.byMAC()
	return byMAC && p.Allows(s.MAC)
}

// Allows reports whether the subscription may be used by a device; an unreadable MAC only where any device may.
func (p Present) Allows(mac string) bool {
	if len(p.macs) == 0 {
		return true
	}
	parsed, ok := radius.ParseMAC([]byte(mac))
	return ok && slices.Contains(p.macs, parsed)
}

// Present gives what a sign-in would get now. A subscription that has ended, or is not known, is entitled to nothing.
func (d *Directory) Present(subscription id.Subscription, at time.Time) Present {
	if p, ok := d.voucherPresent(id.As[id.Voucher](subscription), at); ok {
		return p
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.services[subscription]
	if s == nil {
		return Present{Code: entitlement.CodeEnded}
	}
	v := d.verdict(s, at)
	p := Present{
		Grant: v.grant, Code: v.code, RateLimit: v.rateLimit, username: s.username, macs: v.macs,
		realmless: d.realmless[s.org],
		byMAC:     s.byMAC != nil, parted: d.when(s.parted),
	}
	p.Grant.Rest = s.rest(v.access, s.passwordRef)
	renewed := d.when(s.renewed)
	if s.proven == s.passwordRef && !renewed.After(at) { // until then the former one lets in
		p.Renewed = renewed
	}
	return p
}

// grant describes the answer to a sign-in. The password that a customer proves is the one that the vault has given;
// another one that is still awaited makes the session end when it is there. limit is the rate as routers read it.
func (s *service) grant(given entitlement.Service, limit string) Grant {
	password := s.proven
	if password.IsZero() {
		password = s.passwordRef
	}
	return Grant{
		Access: given.Access, Down: given.Rate.Speed.Down, Up: given.Rate.Speed.Up,
		Speed: digest(limit), Rest: s.rest(given.Access, password),
	}
}

// rest is the digest of what only another sign-in changes. It is made of values and not of encoded attributes, so that
// a new version of the program that writes them in another way ends no session.
func (s *service) rest(access entitlement.Access, password id.Secret) uint32 {
	if access == entitlement.None {
		return 0
	}
	terms, walled := s.terms.Access, access == entitlement.WalledGarden
	fixed, prefix := "", "" // nobody has them in the walled garden
	if s.staticIP.IsValid() && !walled {
		fixed = s.staticIP.String()
	}
	if s.staticIPv6.IsValid() && !walled {
		prefix = s.staticIPv6.String()
	}
	pool := terms.Pool
	if fixed != "" {
		pool = ""
	}
	garden := strconv.FormatBool(walled)
	texts := append(make([]string, 0, 8+len(s.routes)), s.username, password.String(), garden, fixed, pool, prefix,
		terms.IPv6Pool, terms.IPv6DelegatedPool)
	for _, route := range s.routes {
		if !walled {
			texts = append(texts, route.String())
		}
	}
	return digest(texts...)
}

// digest is a short sum of texts, each with its length. It allocates nothing for short ones.
func digest(texts ...string) uint32 {
	var room [256]byte
	all := room[:0]
	for _, text := range texts {
		all = append(append(strconv.AppendInt(all, int64(len(text)), 10), ':'), text...)
	}
	sum := sha256.Sum256(all)
	return binary.BigEndian.Uint32(sum[:])
}

// Door is where a router takes requests to change or to end a session.
type Door struct {
	Org     id.Organization
	Address string // of the tunnel, or outside production the management address; without a port
	Port    int
	Secrets [][]byte // one, or two while it is changed: first the one that the router is known to have
}

// Door finds the door of a router; false when the router is not known, or has gone.
func (d *Directory) Door(device id.Device) (Door, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	r := d.router(device)
	if r == nil {
		return Door{}, false
	}
	out := Door{Org: r.org, Address: r.tunnel, Port: r.details.CoAPort}
	if d.cfg.Development && r.details.ManagementAddress != "" {
		out.Address = host(r.details.ManagementAddress)
	}
	for _, ref := range r.refs() {
		if secret := r.plain[ref]; len(secret) > 0 {
			out.Secrets = append(out.Secrets, secret)
		}
	}
	return out, true
}
