package paymentsjobs

import (
	"context"
	"path"
	"slices"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// registrant is whoever registers the addresses of a shortcode. Organization and credentials are zero for the platform.
type registrant struct {
	org                    id.Organization
	credentials            id.Secret
	shortcode, environment string
}

// directRegistrant is the organization with direct settings.
func directRegistrant(g paymentsviews.GatewayRow) registrant {
	return registrant{
		org: g.OrgID, credentials: g.CredentialsRef, shortcode: g.Shortcode, environment: g.Environment,
	}
}

// lasting reports whether a registration fails in the same way until a person deletes the addresses that the provider
// has.
func lasting(err error) bool {
	code := failure.CodeOf(err)
	return code == "callback_addresses_taken" || code == "callback_addresses_changed"
}

// register registers the addresses of a shortcode with the provider; addresses of ours that the provider has already
// are registered. A token with a word that the provider refuses is replaced by a new one, unless the provider may have
// it. Fails: callback_addresses_taken, callback_addresses_changed, and as the provider's client.
func (w *Workers) register(ctx context.Context, r registrant) error {
	creds, err := w.cfg.Access.Credentials(ctx, r.credentials, r.shortcode)
	if err != nil {
		return err
	}
	provider, err := w.cfg.Access.Provider(r.environment)
	if err != nil {
		return err
	}
	owner := paybillOwner(r.org, r.environment, r.shortcode)
	done, err := w.cfg.Addresses.Tokens.Registering(ctx, owner.Kind, owner.Ref)
	if err != nil {
		return err
	}
	defer done()
	urls, known, err := w.have(ctx, r)
	if err != nil {
		return err
	}
	err = w.announce(ctx, r, known, urls, func() error { return provider.RegisterURLs(ctx, creds, urls) })
	if !mobilemoney.AddressRefused(err) || mobilemoney.ForbiddenWord(path.Base(urls.Confirmation)) == "" ||
		known.proven || known.mine() {
		return err
	}
	if gone, fault := w.cfg.Addresses.Tokens.RevokeUnused(ctx, owner.Kind, owner.Ref); fault != nil || !gone {
		return err
	}
	if urls, known, err = w.have(ctx, r); err != nil {
		return err
	}
	return w.announce(ctx, r, known, urls, func() error { return provider.RegisterURLs(ctx, creds, urls) })
}

// standing holds what the vault and the log know before a registration.
type standing struct {
	vault.Registration
	// proven says that the log has an earlier registration of this shortcode by this organization.
	proven bool
}

// ours reports whether addresses that the provider has can be these: the provider took them, or it may have.
func (s standing) ours(urls mobilemoney.URLs) bool {
	present := urls.Fingerprint()
	return s.mine() && (s.Addresses == "" || s.Addresses == present || s.Tried == present)
}

// doubtful reports whether the provider may have other addresses of this registrant than these.
func (s standing) doubtful(urls mobilemoney.URLs) bool {
	present := urls.Fingerprint()
	return s.Addresses != "" && s.Addresses != present || s.Tried != "" && s.Tried != present
}

// trying gives the record for the time while a registration of these addresses is under way. The fingerprint of former
// addresses stays in it, because the provider still has them when this registration fails.
func (s standing) trying(urls mobilemoney.URLs) vault.Registration {
	out, present := s.Registration, urls.Fingerprint()
	switch {
	case s.State == vault.AddressesUntried:
		return vault.Registration{State: vault.AddressesTried, Addresses: present}
	case s.mine() && s.Addresses != "" && s.Addresses != present:
		out.Tried = present
	}
	return out
}

// mine reports whether the provider has or may have addresses of this registrant, these or former ones.
func (s standing) mine() bool {
	return s.State == vault.AddressesTried || s.State == vault.AddressesRegistered
}

// have gives the present addresses of a shortcode and what is known about their registration. A token of which nothing
// was recorded, because a program of before the record issued or registered it, counts as tried when the log says that
// its organization was the last to register the shortcode. The platform is not in that log: its token counts as tried
// when it was issued before the record.
func (w *Workers) have(ctx context.Context, r registrant) (mobilemoney.URLs, standing, error) {
	urls, err := w.cfg.Addresses.OfPaybill(ctx, r.org, r.environment, r.shortcode)
	if err != nil {
		return urls, standing{}, err
	}
	owner := paybillOwner(r.org, r.environment, r.shortcode)
	var known standing
	if known.Registration, err = w.cfg.Addresses.Tokens.Registration(ctx, owner.Kind, owner.Ref); err != nil {
		return urls, known, err
	}
	owners, err := w.owners(ctx, r.environment, r.shortcode)
	known.proven = slices.ContainsFunc(owners, func(o paymentsviews.ShortcodeRow) bool { return o.OrgID == r.org })
	unrecorded := known.State == vault.AddressesUnrecorded
	if unrecorded || known.State == vault.AddressesUntried {
		known.Registration = vault.Registration{}
		if known.proven || unrecorded && r.org.IsZero() {
			known.State = vault.AddressesTried
		}
	}
	return urls, known, err
}

// announce makes one call to the provider and records, before and after it, what is known. That the provider has
// addresses already is a success only when they are ours: whoever is not the owner of a shortcode would get the same
// answer. Once the provider had addresses before any of ours, only a registration that it takes makes the shortcode
// ours. Source: docs/rules/payments.md#registered-addresses.
func (w *Workers) announce(
	ctx context.Context, r registrant, known standing, urls mobilemoney.URLs, call func() error,
) error {
	trying := known.trying(urls)
	if trying != known.Registration {
		if err := w.note(ctx, r, trying); err != nil {
			return err
		}
	}
	err := call()
	already := failure.CodeOf(err) == mobilemoney.CodeRegistered
	if (already || mobilemoney.NothingRegistered(err)) && trying != known.Registration {
		if fault := w.note(ctx, r, known.Registration); fault != nil {
			return fault
		}
	}
	switch {
	case err == nil:
		return w.note(ctx, r, registered(urls))
	case already && known.ours(urls):
		return w.found(ctx, r, known, urls)
	case already && known.mine():
		return failure.NewConflict("callback_addresses_changed",
			"The address of this platform has changed, and the payment provider "+
				"still has the former callback addresses of this shortcode. Delete them in the provider's portal "+
				"(URL management), then save these settings again.")
	case already:
		if fault := w.note(ctx, r, vault.Registration{State: vault.AddressesTaken}); fault != nil {
			return fault
		}
		return failure.NewConflict("callback_addresses_taken",
			"The payment provider has callback addresses of this shortcode that are "+
				"not from here. Delete them in the provider's portal (URL management), then save these settings again.")
	}
	return err
}

// registered says that the provider has these addresses.
func registered(urls mobilemoney.URLs) vault.Registration {
	return vault.Registration{State: vault.AddressesRegistered, Addresses: urls.Fingerprint()}
}

// found records that the provider has addresses of the registrant. While it may have the former ones, both stay known,
// so that the question is asked again until a person has deleted them.
func (w *Workers) found(ctx context.Context, r registrant, known standing, urls mobilemoney.URLs) error {
	if known.doubtful(urls) {
		w.cfg.Logger.WarnContext(ctx, "callback addresses are registered, but perhaps the former ones",
			"shortcode", r.shortcode, "environment", r.environment)
		return nil
	}
	w.cfg.Logger.InfoContext(ctx, "callback addresses are registered already", "shortcode", r.shortcode,
		"environment", r.environment)
	return w.note(ctx, r, registered(urls))
}

// note records what is known of the addresses of a shortcode, also for a job that was cancelled meanwhile. What the
// provider has now, no other owner of the shortcode in this environment has any more.
func (w *Workers) note(ctx context.Context, r registrant, what vault.Registration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	owner := paybillOwner(r.org, r.environment, r.shortcode)
	var former []uuid.UUID
	if what.State == vault.AddressesRegistered {
		all, err := w.cfg.Addresses.Tokens.Owners(ctx, owner.Kind, owner.Shortcode)
		if err != nil {
			return err
		}
		for _, o := range all {
			if o.OrgID != r.org {
				former = append(former, paybillOwner(o.OrgID, r.environment, r.shortcode).Ref)
			}
		}
	}
	return w.cfg.Addresses.Tokens.NoteRegistration(ctx, owner.Kind, owner.Ref, what, former...)
}
