/** Subjects of incidents of receivers. Other subjects are those of alerts. */
const RECEIVER = 'receiver ';

export const subjectOfReceiver = (receiver: string): string => `${RECEIVER}${receiver}`;

/** Returns the receiver of an incident; null for an incident of another kind. */
export const receiverOfSubject = (subject: string): string | null =>
  subject.startsWith(RECEIVER) ? subject.slice(RECEIVER.length) : null;
