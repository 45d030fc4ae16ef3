package radius

import (
	"cmp"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// NAS is a router that may ask, or another server that speaks RADIUS as a client. Values are not changed after they
// were given to the server.
type NAS struct {
	ID     id.Device // stable: limits and kept answers go with it
	Org    id.Organization
	Name   string // for logs
	Secret []byte // a NAS without a secret is left out

	// Own are addresses that belong to this NAS alone, because the platform gave them to it. Who claims one of them too
	// is ignored there. The first NAS of the list wins, should two own the same. A NAS that is listed twice, while its
	// secret is changed, is known by both secrets; what proves none of them counts as the first.
	Own []netip.Addr
	// Claimed are addresses that anybody may have claimed. There the secret decides, so an Access-Request needs a valid
	// Message-Authenticator. Of several with the same secret the one that claimed the address with it first is taken.
	Claimed []Claim
	// RequireMessageAuthenticator refuses Access-Requests without one from own addresses too.
	RequireMessageAuthenticator bool
}

// Claim is an address that a NAS has claimed, and when it did so with its secret.
type Claim struct {
	Addr netip.Addr
	// Since orders the claims: a position in the log, the same in every program. Of equal ones the first of the list
	// counts as the older.
	Since uint64
}

// LogValue hides the secret.
func (n *NAS) LogValue() slog.Value {
	return slog.GroupValue(slog.String("device_id", n.ID.String()), slog.String("name", n.Name))
}

// client is a NAS with what is computed of its secret.
type client struct {
	*NAS

	inner, outer [64]byte // the two keys of HMAC-MD5
	state        *state
}

// state outlives changes of the NAS.
type state struct {
	rate    limiter
	pending atomic.Int64 // accounting records that the sink has not acknowledged
}

// source is an address from which packets may come.
type source struct {
	clients   []*client
	own       bool    // one NAS owns the address; several clients are its secrets
	claimants int     // clients with those that are left out, because an older one has the same secret
	shared    *shared // where there are several clients
	proven    *proven // where several clients have claimed the address, else nil
}

// shared are the limits of an address, which outlive changes of those who claim it.
type shared struct {
	rate  limiter // of all packets together
	tries limiter // of secrets that are tried in a search
}

// table is all that is known about routers. It is not changed after it was made.
type table struct {
	sources map[netip.Addr]*source
	states  map[id.Device]*state
}

// newTable makes the table of a list; limits of those that were in the old table go on.
func newTable(list []*NAS, old *table) *table {
	t := &table{sources: map[netip.Addr]*source{}, states: map[id.Device]*state{}}
	var clients []*client
	for _, nas := range list {
		if len(nas.Secret) == 0 {
			continue
		}
		c := newClient(nas)
		if c.state = t.states[nas.ID]; c.state == nil {
			if c.state = old.states[nas.ID]; c.state == nil {
				c.state = &state{}
			}
			t.states[nas.ID] = c.state
		}
		clients = append(clients, c)
		for _, addr := range nas.Own {
			if s := t.at(addr, old); s.own {
				if s.clients[0].ID == nas.ID {
					s.clients = append(s.clients, c)
				}
				continue
			}
			*t.at(addr, old) = source{clients: []*client{c}, own: true, claimants: 1, shared: t.at(addr, old).shared}
		}
	}
	t.claim(clients, old)
	return t
}

// claim enters the clients at the addresses that they have claimed, where nobody owns them. Of several with the same
// secret only the oldest claim is entered, since no packet could prove that it comes from another one. When a router
// was registered says nothing about that: it can move to an address, and take a secret, at any time later.
func (t *table) claim(clients []*client, old *table) {
	bySecret := map[*source]map[string]*client{}
	for _, one := range claims(clients) {
		s, secret := t.at(one.Addr, old), string(one.client.Secret)
		if s.own {
			continue
		}
		s.claimants++
		if bySecret[s] == nil {
			bySecret[s] = map[string]*client{}
		}
		if bySecret[s][secret] == nil {
			bySecret[s][secret] = one.client
			s.clients = append(s.clients, one.client)
		}
	}
	for addr, s := range t.sources {
		if s.own || len(s.clients) < 2 {
			continue
		}
		s.proven = &proven{}
		if before := old.sources[addr]; before != nil && before.proven != nil {
			s.proven.keep(before.proven, bySecret[s])
		}
	}
}

// claiming is a claim of a client.
type claiming struct {
	Claim
	client *client
}

// claims lists what all clients have claimed, the oldest first.
func claims(clients []*client) (list []claiming) {
	for _, c := range clients {
		for _, one := range c.Claimed {
			list = append(list, claiming{one, c})
		}
	}
	slices.SortStableFunc(list, func(a, b claiming) int { return cmp.Compare(a.Since, b.Since) })
	return list
}

// at is the source of an address, which is made when it is new.
func (t *table) at(addr netip.Addr, old *table) *source {
	addr = addr.Unmap()
	s := t.sources[addr]
	if s == nil {
		s = &source{shared: &shared{}}
		if before := old.sources[addr]; before != nil {
			s.shared = before.shared
		}
		t.sources[addr] = s
	}
	return s
}

// newClient computes the keys of HMAC-MD5 (RFC 2104) of the secret.
func newClient(nas *NAS) *client {
	c := &client{NAS: nas}
	key := nas.Secret
	if len(key) > len(c.inner) {
		sum := newSigner().plain(key)
		key = sum[:]
	}
	copy(c.inner[:], key)
	copy(c.outer[:], key)
	for i := range c.inner {
		c.inner[i] ^= 0x36
		c.outer[i] ^= 0x5c
	}
	return c
}

// limiter lets a number of packets a second through, and as many at once after a second of rest. The zero value is
// ready. Safe for concurrent use.
type limiter struct {
	free atomic.Int64 // Unix time in nanoseconds at which the bucket is full again
}

// allow takes a place for one packet. 0 a second is no limit. A clock that was set back begins anew.
func (l *limiter) allow(now time.Time, perSecond int) bool {
	if perSecond <= 0 {
		return true
	}
	at, each := now.UnixNano(), int64(time.Second)/int64(perSecond)
	for {
		free := l.free.Load()
		next := max(free, at)
		switch {
		case next-at > 2*int64(time.Second): // never reached by packets alone
			next = at
		case next-at > int64(time.Second)-each:
			return false
		}
		if l.free.CompareAndSwap(free, next+each) {
			return true
		}
	}
}
