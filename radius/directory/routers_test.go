package directory_test

import (
	"crypto/hmac"
	"crypto/md5"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// proving adds a Message-Authenticator to a request.
func proving(t *testing.T, p *layeh.Packet) *layeh.Packet {
	t.Helper()
	p.Set(rfc2869.MessageAuthenticator_Type, make([]byte, md5.Size))
	plain, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(md5.New, p.Secret)
	sum.Write(plain)
	p.Set(rfc2869.MessageAuthenticator_Type, sum.Sum(nil))
	return p
}

// at registers a router of an organization at a WAN address, beside the events of begin.
func (i isp) at(address, tunnel string, ref id.Secret) events.DeviceRegistered {
	return events.DeviceRegistered{
		DeviceID: i.router, OrgID: i.org, TunnelAddress: tunnel, RadiusRef: ref,
		Details: events.DeviceDetails{Name: "tower", IPAddress: address},
	}
}

// moved is the correction of a WAN address.
func (i isp) moved(address string) events.DeviceDetailsCorrected {
	return events.DeviceDetailsCorrected{
		DeviceID: i.router, Details: events.DeviceDetails{Name: "tower", IPAddress: address},
	}
}

// takes is the change to another secret.
func (i isp) takes(ref id.Secret) events.DeviceCredentialsReplaced {
	return events.DeviceCredentialsReplaced{DeviceID: i.router, Kind: events.CredentialRadius, Ref: ref}
}

// TestRouters_ANeighbourTakesNoRouterOverByGuessingItsSecret: the neighbour's router is the older one. It moves to the
// address of another one, and comes upon its secret there.
func TestRouters_ANeighbourTakesNoRouterOverByGuessingItsSecret(t *testing.T) {
	t.Parallel()
	s, rival, ours := newSafe(), newISP(), newISP()
	customer := ours.begin(s, "", "amina", "pw")
	history := append([]events.Event{
		rival.at("203.0.113.9", "10.99.0.2", s.put("its own")), ours.at("127.0.0.1", "10.99.0.3", s.put(secret)),
		customer[0], customer[2],
	}, ours.paid(noon.Add(time.Hour))...)
	k := newKit(t, s, history...)
	k.accepted(proving(t, request("amina", "pw")))
	<-k.told
	for _, guess := range []string{"wrong", secret} {
		k.apply(rival.takes(s.put(guess)), rival.moved("127.0.0.1"))
		k.accepted(proving(t, request("amina", "pw")))
	}
	k.eventually(func() bool { // the guess is known and the server was told
		list := <-k.told
		return string(list[0].Secret) == secret && len(list) == 2
	})
	k.accepted(proving(t, request("amina", "pw")))
	for _, stray := range k.refusals.Drain() {
		if stray.OrgID != ours.org || stray.Code != string(directory.CodeNoSession) { // the customer reports nothing
			t.Errorf("somebody is told %+v", stray)
		}
	}
}

// TestRouters_WhatIsGivenUpAndTakenAgainIsANewClaim: an address or secret that another one took meanwhile is not theirs
// any more who had it once; what stays while other things of the router change keeps its place.
func TestRouters_WhatIsGivenUpAndTakenAgainIsANewClaim(t *testing.T) {
	t.Parallel()
	const here, there = "127.0.0.1", "203.0.113.1"
	for name, c := range map[string]struct {
		first, second func(s *safe, i isp) []events.Event // of two routers with one secret, before and after the other
		keeps         bool
	}{
		"nothing": {nil, nil, true},
		"another name": {nil, func(_ *safe, i isp) []events.Event {
			renamed := i.moved(here)
			renamed.Details.Name = "north"
			return []events.Event{renamed}
		}, true},
		"away and back before": {func(_ *safe, i isp) []events.Event {
			return []events.Event{i.moved(there), i.moved(here)}
		}, nil, true},
		"away and back after": {nil, func(_ *safe, i isp) []events.Event {
			return []events.Event{i.moved(there), i.moved(here)}
		}, false},
		"another secret and back": {nil, func(s *safe, i isp) []events.Event {
			return []events.Event{i.takes(s.put("another")), i.takes(s.put(secret))}
		}, false},
		"back to the secret that the router still has": {func(s *safe, i isp) []events.Event {
			ref := s.put(secret)
			return []events.Event{i.takes(ref), events.DeviceSetupApplied{DeviceID: i.router, RadiusRef: ref}}
		}, func(s *safe, i isp) []events.Event {
			return []events.Event{i.takes(s.put("another"))}
		}, true},
	} {
		s, one, other := newSafe(), newISP(), newISP()
		history := []events.Event{one.at(here, "10.99.0.2", s.put(secret))}
		if c.first != nil {
			history = append(history, c.first(s, one)...)
		}
		history = append(history, other.at(here, "10.99.0.3", s.put(secret)))
		if c.second != nil {
			history = append(history, c.second(s, one)...)
		}
		// Both have the customer, with passwords of their own.
		for _, of := range []struct {
			isp
			password string
		}{{one, "of the first"}, {other, "of the other"}} {
			customer := of.begin(s, "", "amina", of.password)
			history = append(append(history, customer[0], customer[2]), of.paid(noon.Add(time.Hour))...)
		}
		k := newKit(t, s, history...)
		right, wrong := "of the first", "of the other"
		if !c.keeps {
			right, wrong = wrong, right
		}
		t.Log(name)
		k.accepted(proving(t, request("amina", right)))
		k.refused(proving(t, request("amina", wrong)), directory.CodeWrongPassword)
	}
}
