package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/usecases/identity"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// codeTries is how often a code is offered to a gateway that does not take it, within the time in which somebody waits.
const codeTries = 20

// codeQueue keeps codes apart from runs of messages: somebody waits for each.
const codeQueue = "codes"

// wireCodes registers the job that sends one-time codes, and completes their use cases.
func (a *App) wireCodes(codes identitycases.Codes) identitycases.Codes {
	codes.Host = a.hostOf
	codes.Enqueue = func(ctx context.Context, request id.Any) error {
		return a.engines.jobs.Insert(ctx, commands.SendCode{Request: request}, request, jobs.Cause{}, 0)
	}
	codes.Write = messagingcases.Settings{Bus: a.engines.bus}.OfSignIn
	codes.Send = codeSender{a.gateways, a.storage.vault.Offers}.send
	jobrunner.AddWorker(a.engines.jobs, func(ctx context.Context, job commands.SendCode, _ jobs.Cause) error {
		return codes.Deliver(ctx, job.Request)
	}, jobrunner.Options{
		Queue: codeQueue, MaxAttempts: codeTries, Backoff: jobrunner.Doubling(time.Second, vault.CodeTTL/10),
	})
	return codes
}

// hostOf is the name of an organization's host, or of the root host for "".
func (a *App) hostOf(slug string) string {
	if slug == "" {
		return a.cfg.ServiceDomain
	}
	return slug + "." + a.cfg.ServiceDomain
}

// codeSender hands codes to the gateways of messages.
type codeSender struct {
	gateways messageGateways
	offers   *vault.Offers
}

// send hands a code over, once: one that a stop has interrupted is lost, and its owner asks for another one.
func (s codeSender) send(ctx context.Context, m identitycases.CodeMessage) error {
	channel := events.MessageChannel(m.Channel)
	gateway, ok := s.gateways[channel]
	if !ok {
		return identitycases.ErrCodeLost // the start has said that nothing sends this channel
	}
	if !gateway.Once() {
		before, err := s.offers.Begin(ctx, m.ID)
		if err != nil || before.Before {
			return cmp.Or(err, identitycases.ErrCodeLost)
		}
	}
	_, err := gateway.Send(ctx, messagingcases.Outgoing{
		ID: m.ID, Org: m.Org, Sender: m.Sender, At: m.At, Channel: channel, To: m.To, Template: m.Template,
		Subject: m.Subject, Text: m.Text,
	})
	var refusal *messagingcases.Refusal
	switch {
	case err == nil:
		return nil
	case errors.Is(err, messagingcases.ErrUnclear), errors.As(err, &refusal):
		return errors.Join(identitycases.ErrCodeLost, err)
	}
	return errors.Join(err, s.offers.End(context.WithoutCancel(ctx), m.ID))
}
