// Package jobrunner is the queue of outside calls and works it, with River on PostgreSQL. What a job and its cause are
// stands in package jobs; workers are in jobs/<area>.
//
// # Use
//
//	r := jobrunner.New(jobrunner.Config{DB: db, Logger: logger})
//	jobrunner.AddWorker(r, workers.RebootDevice, jobrunner.Options{Timeout: 20 * time.Second, MaxAttempts: 5})
//	jobrunner.Every(r, time.Hour, commands.RegisterPlatform{}) // periodic work, on one replica
//	err := r.Start(ctx)                                        // before the process runner
//	defer r.Stop()                                             // after it
//	err = r.InsertTx(ctx, tx, job, jobID, cause)               // by a process, in its transaction
//	err = r.Insert(ctx, job, jobID, cause, delay)              // by others
//
// Workers are registered before Start, also in a program that only enqueues (Config.InsertOnly): they know the options
// of their kinds. Start and Stop keep the contract of package internal/loop; Stop waits 2 seconds for running jobs and
// then cancels them.
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
//   - Crash: a job whose program was killed is taken up again after 90 seconds, or at once by a program that says that
//     it works the queue alone (Config.Sole). So each job is worked at least once, and its outcome command acts once.
//   - Time: an attempt's context ends after Options.Timeout, 30 seconds at most.
//   - Race: a job is given to one worker at a time. Different jobs run side by side and in no order.
//   - Outage: while the database is away nothing is worked. Jobs that ran then are taken up again like those of a
//     program that was killed.
//
// # Limits
//
// After the last attempt nothing follows by itself: a worker that must always report looks at Last of its [jobs.Cause].
// Which jobs may not run at once for one target is the worker's affair, by an advisory lock of that target.
//
// Read on: docs/rules/engine.md#jobs and docs/rules/engine.md#doubt.
package jobrunner
