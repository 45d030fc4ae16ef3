package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// benchPeople sign in by codes in turns: of each, ten tries an hour count.
const benchPeople = 1500

// BenchmarkSignInsByCode measures sign-ins by code a second over HTTP, each with the making of its code, but without
// the gateway that brings it. The limit is sign-ins by password in the same program, which hash: a code costs no more.
func BenchmarkSignInsByCode(b *testing.B) {
	k := newBenchKit(b)
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		b.Fatal(err)
	}
	k.benchPeople(b, org)
	lines, acme := dialMany(b, k.addr, benchReaders), k.client("acme")
	codes := k.app.storage.vault.Codes
	var serial atomic.Int64
	byCode := func(ctx context.Context, caller int) error {
		address := codeAddress(serial.Add(1) % benchPeople)
		asked, err := codes.Ask(ctx, vault.CodeWish{OrgID: org, Channel: "email", Address: address})
		if err != nil {
			return err
		}
		code, err := codes.Make(ctx, asked)
		if err != nil {
			return err
		}
		body := fmt.Sprintf(`{"identifier":%q,"code":%q}`, address, code.Reveal())
		return lines[caller].expect(http.StatusOK, request(http.MethodPost, "/auth/otp/verify", acme, body))
	}
	byPassword := func(_ context.Context, caller int) error { // each its own person: tries at once lock one
		body := fmt.Sprintf(`{"email":%q,"password":%q}`, codeAddress(int64(caller)), testPassword)
		return lines[caller].expect(http.StatusOK, request(http.MethodPost, "/auth/login", acme, body))
	}
	for b.Loop() {
		benchtest.Compare(b, "sign-ins/s", 1, func() float64 { return benchtest.Rate(b, benchReaders, byCode) },
			func() float64 { return benchtest.Rate(b, benchReaders, byPassword) })
	}
}

// codeAddress is the e-mail address of one of those who sign in.
func codeAddress(n int64) string { return fmt.Sprintf("bench-%d@acme.test", n) }

// benchPeople registers those who sign in by codes; some have a password.
func (k *kit) benchPeople(b *testing.B, org id.Organization) {
	b.Helper()
	passwords := k.app.storage.vault.Passwords
	hash, err := passwords.Hash(b.Context(), org, testPassword)
	if err != nil {
		b.Fatal(err)
	}
	var last uint64
	for n := range int64(benchPeople) {
		user := id.New[id.User]()
		done, err := k.app.engines.bus.Execute(b.Context(), commands.RegisterUser{
			UserID: user, OrgID: org, Email: personal.Of(codeAddress(n)),
			FirstName: personal.Of("Bench"), Role: events.RoleSupport,
		}, commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator, ID: "bench"},
		})
		if err == nil && n < benchReaders {
			err = passwords.Replace(b.Context(), user, hash, vault.Revocation{})
		}
		if err != nil {
			b.Fatal(err)
		}
		last = done.Position
	}
	if err := k.app.engines.views.WaitFor(b.Context(), identityviews.UsersName, last); err != nil {
		b.Fatal(err)
	}
}
