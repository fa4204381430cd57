// Package e2e answers: does the real client do what we think?
// Its tests start Copilot CLI offline against a scripted model endpoint on the loopback interface, and run only with
// the build tag e2e. It holds no program code, speaks to no real model, and does not repeat what unit tests cover.
package e2e
