//! Studies and the theory behind them.

mod false_alarms;
mod published;
mod statements;
