package main

import (
	"context"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // RADIUS demands it
	"errors"
	"syscall"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/vendors/microsoft"
	"layeh.com/radius/vendors/mikrotik"

	"github.com/lastmile-isp/lastmile/radius/directory"
)

// Challenges of both sides of MS-CHAPv2 in tests.
var (
	ourChallenge  = []byte("challenge of ISP")
	peerChallenge = []byte("challenge of CPE")
)

// dial signs a customer in over PPPoE by MS-CHAPv2.
func (k *kit) dial(secret, username, password string) *radius.Packet {
	k.t.Helper()
	return k.dialFrom("", secret, username, password)
}

// dialFrom signs in a customer's device, as a router at a shared address does: with a Message-Authenticator. calling ""
// = the router does not tell which device it is.
func (k *kit) dialFrom(calling, secret, username, password string) *radius.Packet {
	k.t.Helper()
	p := radius.New(radius.CodeAccessRequest, []byte(secret))
	response := make([]byte, 50)
	copy(response[2:], peerChallenge)
	proof, err := rfc2759.GenerateNTResponse(ourChallenge, peerChallenge, []byte(username), []byte(password))
	if err != nil {
		k.t.Fatal(err)
	}
	copy(response[26:], proof)
	for _, err := range []error{
		rfc2869.MessageAuthenticator_Set(p, make([]byte, 16)), rfc2865.UserName_SetString(p, username),
		rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_FramedUser),
		rfc2865.FramedProtocol_Set(p, rfc2865.FramedProtocol_Value_PPP),
		microsoft.MSCHAPChallenge_Add(p, ourChallenge), microsoft.MSCHAP2Response_Add(p, response),
	} {
		if err != nil {
			k.t.Fatal(err)
		}
	}
	if calling != "" {
		if err := rfc2865.CallingStationID_SetString(p, calling); err != nil {
			k.t.Fatal(err)
		}
	}
	return k.exchange(p)
}

// exchange completes the Message-Authenticator of a sign-in, which it has with zeros, and gives the answer.
func (k *kit) exchange(p *radius.Packet) *radius.Packet {
	k.t.Helper()
	packet, err := p.Encode()
	if err != nil {
		k.t.Fatal(err)
	}
	mac := hmac.New(md5.New, p.Secret)
	mac.Write(packet)
	if err := rfc2869.MessageAuthenticator_Set(p, mac.Sum(nil)); err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	answer, err := radius.Exchange(ctx, p, k.accessAddr())
	if err != nil {
		k.t.Fatalf("sign in as %s: %v", rfc2865.UserName_GetString(p), err)
	}
	return answer
}

// connection is a customer's login at an organization.
type connection struct{ secret, username, password, subscriber, subscription string }

// connect gives the organization of a client a router behind this machine and a customer with a login.
func (k *kit) connect(c apiClient, secret, username string) connection {
	k.t.Helper()
	tower := k.must(c, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": secret, "managementAddress": "127.0.0.1:9",
		"requireMessageAuthenticator": true,
	})
	if required, _ := tower["requireMessageAuthenticator"].(bool); !required {
		k.t.Errorf("registered %v", tower)
	}
	plan := k.must(c, "POST", "/plans", map[string]any{
		"code": "home", "name": "Home", "kind": "pppoe", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "month"}, "pool": "homes",
		"rates": map[string]any{"down": 10000, "up": 5000, "burst": map[string]int{
			"down": 20000, "up": 8000, "thresholdDown": 8000, "thresholdUp": 4000, "seconds": 10,
		}},
	}).text("id")
	subscriber := k.must(c, "POST", "/subscribers", map[string]any{
		"firstName": "Amina", "lastName": "Otieno", "phone": "+254711000077",
	}).text("id")
	made := k.must(c, "POST", "/subscriptions", map[string]any{
		"subscriberId": subscriber, "planId": plan, "username": username,
	})
	return connection{
		secret: secret, username: username, password: made.text("password"), subscriber: subscriber,
		subscription: made.text("id"),
	}
}

// rejected waits until a sign-in is rejected with the text of a code.
func (k *kit) rejected(c connection, password string, code directory.Code) {
	k.t.Helper()
	var last string
	k.eventually("reject because of "+string(code), func(context.Context) (bool, error) {
		answer := k.dial(c.secret, c.username, password)
		last = rfc2865.ReplyMessage_GetString(answer)
		return answer.Code == radius.CodeAccessReject && last == code.Message(), nil
	})
}

// online waits until a sign-in is accepted.
func (k *kit) online(c connection) *radius.Packet {
	k.t.Helper()
	var answer *radius.Packet
	k.eventually("sign-in to be accepted", func(context.Context) (bool, error) {
		answer = k.dial(c.secret, c.username, c.password)
		return answer.Code == radius.CodeAccessAccept, nil
	})
	return answer
}

// TestRadius_WhatIsPaidIsOnline: two organizations have the same username. A customer pays and gets everything, is
// blocked and told so, and goes on signing in after a restart.
func TestRadius_WhatIsPaidIsOnline(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	theirs := k.connect(k.organization("beta", "admin@beta.test"), "secret-of-beta", "amina")
	k.rejected(ours, ours.password, directory.CodeUnpaid)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": ours.subscriber, "amount": 1000, "reference": "till 1",
	})
	answer := k.online(ours)
	if got := mikrotik.MikrotikRateLimit_GetString(answer); got != "5M/10M 8M/20M 4M/8M 10/10" {
		t.Errorf("rate limit %q", got)
	}
	if rfc2869.FramedPool_GetString(answer) != "homes" || rfc2869.AcctInterimInterval_Get(answer) != 300 ||
		rfc2865.SessionTimeout_Get(answer) < 27*24*3600 || len(microsoft.MSCHAP2Success_Get(answer)) == 0 {
		t.Errorf("accepted with %v", answer.Attributes)
	}
	k.rejected(theirs, ours.password, directory.CodeWrongPassword)
	k.rejected(theirs, theirs.password, directory.CodeUnpaid)
	k.must(k.admin, "POST", "/subscribers/"+ours.subscriber+"/block", map[string]string{"reason": "abuse"})
	k.rejected(ours, ours.password, directory.CodeBlocked)
	k.must(k.admin, "POST", "/subscribers/"+ours.subscriber+"/unblock", map[string]string{"reason": "talked"})
	k.online(ours)
	changed := k.must(k.admin, "POST", "/subscriptions/"+ours.subscription+"/credentials", map[string]string{
		"username": "amina.o", "password": "another password",
	})
	before := ours
	ours.username, ours.password = changed.text("username"), "another password"
	k.online(ours)
	k.rejected(before, before.password, directory.CodeUnknownUser)
	k.app.Stop()
	k.start()
	k.online(ours) // whoever asks first after the start meets everybody
}

// TestRadius_SignsInWhilePostgreSQLIsAway: the private server is killed again and again.
func TestRadius_SignsInWhilePostgreSQLIsAway(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": ours.subscriber, "amount": 1000, "reference": "till 1",
	})
	k.online(ours)
	for range 3 {
		pid := k.app.storage.cluster.PID()
		// A server may end by itself while processes of the one before are still ending.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatalf("kill PostgreSQL: %v", err)
		}
		answer := k.dial(ours.secret, ours.username, ours.password)
		if answer.Code != radius.CodeAccessAccept {
			t.Errorf("%v %q", answer.Code, rfc2865.ReplyMessage_GetString(answer))
		}
		k.eventually("the server to be started again", func(context.Context) (bool, error) {
			return k.app.storage.cluster.PID() != pid, nil
		})
	}
}
