package main

import (
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
	codes.Enqueue = func(ctx context.Context, org id.Organization, request id.Any) error {
		return a.engines.jobs.Insert(ctx, commands.SendCode{Request: request}, request, jobs.Cause{OrgID: org}, 0)
	}
	codes.Write = messagingcases.Settings{Bus: a.engines.bus}.OfSignIn
	codes.Send = codeSender{a.gateways}.send
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
type codeSender struct{ gateways messageGateways }

// send hands a code over.
func (s codeSender) send(ctx context.Context, m identitycases.CodeMessage) error {
	channel := events.MessageChannel(m.Channel)
	gateway, ok := s.gateways[channel]
	if !ok {
		return identitycases.ErrCodeLost // the start has said that nothing sends this channel
	}
	_, err := gateway.Send(ctx, messagingcases.Outgoing{
		ID: m.ID, Org: m.Org, Sender: m.Sender, At: m.At, Channel: channel, To: m.To, Template: m.Template,
		Subject: m.Subject, Text: m.Text,
	})
	var refusal *messagingcases.Refusal
	if errors.Is(err, messagingcases.ErrUnclear) || errors.As(err, &refusal) {
		return errors.Join(identitycases.ErrCodeLost, err)
	}
	return err
}
