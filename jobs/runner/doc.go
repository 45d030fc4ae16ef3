// Package jobrunner keeps the queue of outside calls and runs their workers, with River on PostgreSQL. Package jobs
// explains jobs and causes; workers are in jobs/<area>.
//
// # Use
//
//	r := jobrunner.New(jobrunner.Config{DB: db, Clock: clock, Logger: logger})
//	jobrunner.AddWorker(r, workers.RebootDevice, jobrunner.Options{Timeout: 20 * time.Second, MaxAttempts: 5})
//	jobrunner.OnDiscarded(r, workers.RebootFailed)             // what follows when no attempt succeeded
//	jobrunner.Every(r, time.Hour, commands.SweepMoney{})       // periodic work, on one replica
//	err := r.Start(ctx)                                        // before the process runner
//	defer r.Stop()                                             // after it
//	err = r.InsertTx(ctx, tx, job, jobID, cause)               // by a process, in its transaction
//	err = r.Insert(ctx, job, jobID, cause, delay)              // by others
//
// Workers are registered before Start, also in a program that only enqueues (Config.InsertOnly): the registration has
// the options of a kind of job. Start and Stop keep the contract of package internal/loop; Stop waits a moment
// for running jobs, then cancels them, and waits until they have recorded what they know.
//
// # Answers of a worker
//
// nil is done. An error means another attempt after the kind's back-off, until MaxAttempts. [Snooze] means later,
// without using up an attempt: for a target whose breaker is open. [GiveUp] means that no attempt can help. A panic is
// an error. The details of an error go to the log; the row, which is kept for days, gets the failure code only.
//
// # Guarantees
//
//   - Repeat: a second job with the same id is not enqueued, also after the first has ended and while its row is kept.
//     Of jobs with the same request ([commands.Asked]) one waits or runs, whatever their ids.
//   - Crash: a job whose program was killed runs again after 90 seconds, or at once when a program starts that works
//     the queue alone (Config.Sole). So each job is worked at least once, and its outcome command acts once.
//   - Time: an attempt's context ends after Options.Timeout, usually 30 seconds. Delays, retries and periods follow
//     Config.Clock. When it jumps, what fell due begins at once in the order of its instants; [Runner.Pause] is needed
//     for jumps beside running jobs. An attempt of a kind that may take longer than usual makes way for a jump: it is
//     cancelled soon after Config.Gate was shut, and the job begins again afterwards.
//   - Periodic work: one run in each period over all programs, and one for all periods in which none was running.
//   - Race: a job is given to one worker at a time. Different jobs run side by side and in no order.
//   - Fairness: the next job is one of the organization with the fewest running jobs; one organization has three
//     quarters of a queue's places at most. Its other jobs are not touched meanwhile, however many they are.
//     Devices whose last call failed or was slow have a quarter together ([commands.OnDevice]). An organization
//     that has no running job of such a device gets one place beyond the quarter, up to half of all. A job
//     whose device has no place comes again after a second, or later when many wait for the device.
//   - Outage: while the database is away no job runs. Jobs that ran when it went away run again like those of a
//     program that was killed.
//
// # Limits
//
// A kind without [OnDiscarded] is only counted after its last attempt. The queue lets two jobs of one device run at the
// same time: a worker that must be alone takes an advisory lock of its target.
//
// Read on: docs/rules/engine.md#jobs and docs/rules/engine.md#doubt.
package jobrunner
