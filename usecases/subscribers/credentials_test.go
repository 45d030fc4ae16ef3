package subscriberscases_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// kept reads a password from the vault, "" when there is none.
func (k *kit) kept(t *testing.T, ref id.Secret) string {
	t.Helper()
	kept, err := k.Vault.Secrets.Get(t.Context(), ref)
	if err != nil {
		coretest.Refused(t, "password", err, "secret_not_found")
	}
	return string(kept)
}

// at is the input of a customer with the username.
func (k *kit) at(t *testing.T, username string) subscriberscases.CreateSubscriptionInput {
	t.Helper()
	return subscriberscases.CreateSubscriptionInput{
		SubscriberID: k.register(t), PlanID: k.plan(t, "plan-"+username), Username: personal.Of(username),
	}
}

func TestCreateSubscription_AGeneratedPasswordIsToldAndARepeatTellsTheSame(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in, asked := k.at(t, "amina"), coretest.Keyed(k.acme)
	made, err := k.subscriptions.Create(t.Context(), asked, in)
	if err != nil || made.Generated.Reveal() != k.password(t, made.ID) {
		t.Fatalf("%v", err)
	}
	word := made.Generated.Reveal()
	if len(word) < 12 || strings.Trim(word, "abcdefghjkmnpqrstuvwxyz23456789") != "" {
		t.Errorf("generated %q", word)
	}
	again, err := k.subscriptions.Create(t.Context(), asked, in)
	if err != nil || again.Generated != made.Generated || again.ID != made.ID {
		t.Errorf("a repeat tells %q, %v", again.Generated.Reveal(), err)
	}
	set, err := k.subscriptions.SetCredentials(t.Context(), coretest.Ask(k.acme),
		subscriberscases.SetCredentialsInput{SubscriptionID: made.ID})
	if err != nil || set.Password.IsZero() || set.Password == made.Generated {
		t.Errorf("changed to %q, %v", set.Password.Reveal(), err)
	}
	again, err = k.subscriptions.Create(t.Context(), asked, in)
	if err != nil || !again.Generated.IsZero() || k.password(t, made.ID) != "" {
		t.Errorf("a repeat after the change tells %q and keeps %q, %v", again.Generated.Reveal(),
			k.password(t, made.ID), err)
	}
}

func TestStaticAddresses_BelongToOneSubscriptionOfAnOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.at(t, "amina")
	in.Username = personal.Text{}
	in.Addresses = commands.ServiceAddresses{StaticIP: personal.Of("203.0.113.9")}
	winners := 0
	var first id.Subscription
	asked := make([]usecases.Asked, 4)
	for n, err := range coretest.AtOnce(len(asked), func(n int) error {
		asked[n] = coretest.Keyed(k.acme)
		_, err := k.subscriptions.Create(t.Context(), asked[n], in)
		return err
	}) {
		subscription := usecases.NewID[id.Subscription](asked[n], "subscription")
		if err == nil {
			winners, first = winners+1, subscription
			continue
		}
		coretest.Refused(t, "a race", err, "static_ip_taken")
		if k.password(t, subscription) != "" {
			t.Error("the loser's password is left")
		}
	}
	if winners != 1 {
		t.Fatalf("%d have the address", winners)
	}
	in.Addresses = commands.ServiceAddresses{StaticIPv6Prefix: personal.Of("2001:DB8:1:100::/56")}
	second := k.subscribe(t, in)
	_, err := k.subscriptions.ChangeAddresses(t.Context(), coretest.Ask(k.acme), subscriberscases.AddressChange{
		SubscriptionID: first, StaticIPv6Prefix: new(personal.Of("2001:db8:1:100::/56")),
	})
	coretest.Refused(t, "a prefix in use", err, "static_ipv6_prefix_taken")
	k.Run(t, coretest.Ask(k.acme).Meta, commands.EndSubscription{SubscriptionID: first, Reason: "moved"})
	_, err = k.subscriptions.ChangeAddresses(t.Context(), coretest.Ask(k.acme), subscriberscases.AddressChange{
		SubscriptionID: second.ID, StaticIP: new(personal.Of("203.0.113.9")),
		MACAddresses: new(personal.OfAll([]string{"aabb.ccdd.eeff", "AA:BB:CC:DD:EE:FF"})),
	})
	if err != nil {
		t.Fatalf("the address of an ended subscription: %v", err)
	}
	now := load[subscribers.Subscription](t, k, second.ID).Addresses
	if now.StaticIP.Reveal() != "203.0.113.9" || now.StaticIPv6Prefix.Reveal() != "2001:db8:1:100::/56" ||
		!cmp.Equal(personal.RevealAll(now.MACAddresses), []string{"AA:BB:CC:DD:EE:FF"}) {
		t.Errorf("addresses %+v", now)
	}
	_, err = k.subscriptions.ChangeAddresses(t.Context(), coretest.Ask(k.other), subscriberscases.AddressChange{
		SubscriptionID: second.ID, StaticIP: new(personal.Text),
	})
	coretest.Refused(t, "another organization", err, "subscription_not_found")
}

func TestSetCredentials_OnePasswordIsKeptAndTheUsernameMoves(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.subscribe(t, k.at(t, "amina"))
	set := func(asked usecases.Asked, username, password string) (subscriberscases.Credentials, error) {
		return k.subscriptions.SetCredentials(t.Context(), asked, subscriberscases.SetCredentialsInput{
			SubscriptionID: s.ID, Username: personal.Of(username), Password: secrets.Text(password),
		})
	}
	word := k.kept(t, s.PasswordRef)
	named, err := set(coretest.Keyed(k.acme), "amina.o", "")
	if now := load[subscribers.Subscription](t, k, s.ID); err != nil || !named.Password.IsZero() ||
		now.PasswordRef != s.PasswordRef || k.kept(t, now.PasswordRef) != word || now.Username.Reveal() != "amina.o" {
		t.Fatalf("a new name: %+v, %v", named, err)
	}
	next := k.at(t, "brian")
	next.Username = personal.Of("amina") // it is free again
	k.subscribe(t, next)
	key := coretest.Keyed(k.acme)
	_, err = set(key, "amina", "chosen")
	coretest.Refused(t, "a name in use", err, "username_taken")
	if ref := usecases.NewID[id.Secret](key, commands.NetworkPasswordPurpose); k.kept(t, ref) != "" {
		t.Error("the password of a refused change is left")
	}
	key = coretest.Keyed(k.acme)
	for range 2 { // the second is a repeat after a lost answer
		given, err := set(key, "", "net work")
		now := load[subscribers.Subscription](t, k, s.ID)
		if err != nil || !given.Password.IsZero() || k.kept(t, now.PasswordRef) != "net work" ||
			k.kept(t, s.PasswordRef) != "" {
			t.Fatalf("a given password: %+v, %v", given, err)
		}
	}
	made, err := set(coretest.Keyed(k.acme), "", "")
	if err != nil || made.Password.IsZero() {
		t.Fatalf("a generated password: %v", err)
	}
	late, err := set(key, "", "net work")
	now := load[subscribers.Subscription](t, k, s.ID)
	if err != nil || late.Changed || k.kept(t, now.PasswordRef) != made.Password.Reveal() ||
		k.kept(t, usecases.NewID[id.Secret](key, commands.NetworkPasswordPurpose)) != "" {
		t.Errorf("a late repeat: %+v, %v", late, err)
	}
	k.Run(t, coretest.Ask(k.acme).Meta, commands.EndSubscription{SubscriptionID: s.ID, Reason: "moved"})
	key = coretest.Keyed(k.acme)
	_, err = set(key, "", "")
	coretest.Refused(t, "an ended one", err, "subscription_ended")
	if k.kept(t, usecases.NewID[id.Secret](key, commands.NetworkPasswordPurpose)) != "" {
		t.Error("the password of an ended subscription is left")
	}
}

func TestSetCredentials_WhatACrashLeavesIsDeletedByTheRepeat(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.subscribe(t, k.at(t, "amina"))
	asked := coretest.Keyed(k.acme)
	ref := usecases.NewID[id.Secret](asked, commands.NetworkPasswordPurpose)
	left := vault.Secret{Ref: ref, OrgID: k.acme, Purpose: commands.NetworkPasswordPurpose}
	if err := k.Vault.Secrets.Put(t.Context(), left, []byte("first")); err != nil { // stopped before the command
		t.Fatal(err)
	}
	in := subscriberscases.SetCredentialsInput{SubscriptionID: s.ID}
	set, err := k.subscriptions.SetCredentials(t.Context(), asked, in)
	if err != nil || set.Password.Reveal() != "first" || k.kept(t, s.PasswordRef) != "" {
		t.Fatalf("%q, %v", set.Password.Reveal(), err)
	}
	old := vault.Secret{Ref: s.PasswordRef, OrgID: k.acme, Purpose: commands.NetworkPasswordPurpose}
	if err := k.Vault.Secrets.Put(t.Context(), old, []byte("old")); err != nil { // stopped before the deletion
		t.Fatal(err)
	}
	again, err := k.subscriptions.SetCredentials(t.Context(), asked, in)
	if err != nil || again.Password != set.Password || again.Changed || k.kept(t, s.PasswordRef) != "" {
		t.Errorf("%q, %v; the old one is %q", again.Password.Reveal(), err, k.kept(t, s.PasswordRef))
	}
}

func TestSetCredentials_OfManyAtOnceTheLastIsKeptAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.subscribe(t, k.at(t, "amina"))
	asked := make([]usecases.Asked, 3)
	for _, err := range coretest.AtOnce(len(asked), func(n int) error {
		asked[n] = coretest.Keyed(k.acme)
		_, err := k.subscriptions.SetCredentials(t.Context(), asked[n],
			subscriberscases.SetCredentialsInput{SubscriptionID: s.ID})
		return err
	}) {
		if err != nil {
			coretest.Refused(t, "at once", err, "concurrent_change")
		}
	}
	now := load[subscribers.Subscription](t, k, s.ID)
	kept := 0
	for _, a := range asked {
		if ref := usecases.NewID[id.Secret](a, commands.NetworkPasswordPurpose); k.kept(t, ref) != "" {
			kept++
		}
	}
	if kept != 1 || k.kept(t, now.PasswordRef) == "" || k.kept(t, s.PasswordRef) != "" {
		t.Errorf("%d passwords are kept", kept)
	}
}

func TestShowCredentials_IsRecordedBeforeAnybodySeesItThirtyTimesAnHour(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.subscribe(t, k.at(t, "amina"))
	_, err := k.subscriptions.ShowCredentials(t.Context(), coretest.Ask(k.other), s.ID)
	coretest.Refused(t, "another organization", err, "subscription_not_found")
	var revision uint64
	for range 30 {
		shown, err := k.subscriptions.ShowCredentials(t.Context(), coretest.Ask(k.acme), s.ID)
		if err != nil || shown.Username.Reveal() != "amina" || shown.Password.Reveal() != k.kept(t, s.PasswordRef) ||
			!shown.Changed || shown.Revision <= revision {
			t.Fatalf("%+v, %v", shown, err)
		}
		revision = shown.Revision
	}
	_, err = k.subscriptions.ShowCredentials(t.Context(), coretest.Ask(k.acme), s.ID)
	coretest.Refused(t, "the 31st", err, "rate_limited")
}

func TestCredentials_OfASubscriptionWithoutAPasswordAreMadeByAChange(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.subscribe(t, k.at(t, "amina"))
	if err := k.Vault.Secrets.Delete(t.Context(), s.PasswordRef); err != nil {
		t.Fatal(err)
	}
	shown, err := k.subscriptions.ShowCredentials(t.Context(), coretest.Ask(k.acme), s.ID)
	if err != nil || shown.Username.Reveal() != "amina" || !shown.Password.IsZero() {
		t.Fatalf("%+v, %v", shown, err)
	}
	set, err := k.subscriptions.SetCredentials(t.Context(), coretest.Ask(k.acme), subscriberscases.SetCredentialsInput{
		SubscriptionID: s.ID, Username: personal.Of("amina.o"),
	})
	if err != nil || set.Password.IsZero() {
		t.Fatalf("%+v, %v", set, err)
	}
	shown, err = k.subscriptions.ShowCredentials(t.Context(), coretest.Ask(k.acme), s.ID)
	if err != nil || shown.Password != set.Password || shown.Username.Reveal() != "amina.o" {
		t.Errorf("%+v, %v", shown, err)
	}
}
