/** Accessible names and texts that pages are found by, in both languages. They repeat `app/src/i18n` on purpose: a changed word is seen. */

export interface Words {
  day: string;
  chooseAgain: string;
  /** The last part of a seat's name, by its state. */
  seat: { available: string; locked: string; sold: string; mine: string };
  takeOff: RegExp;
  hold: RegExp;
  chooseForMe: string;
  choose: RegExp;
  standing: string;
  holdPlaces: RegExp;
  phone: string;
  password: string;
  signIn: string;
  register: string;
  keepsChoice: string;
  payInTime: string;
  paymentFailed: string;
  processing: string;
  paid: string;
  timedOut: string;
  tooLate: string;
  cancelledByBuyer: string;
  pay: RegExp;
  deadline: RegExp;
  backToCashier: string;
  cancelOrder: string;
  giveBack: string;
  giveTicketsBack: string;
  refunds: string;
  whatHappened: string;
  goOn: string;
  yesGiveBack: RegExp;
  otherLanguage: string;
  cashierPay: string;
  cashierFail: string;
  cashierBack: string;
  cashierSwitches: string;
}

export const EN: Words = {
  day: 'Day',
  chooseAgain: 'Choose again',
  seat: { available: ', available', locked: ', held by others', sold: ', sold', mine: ', yours' },
  takeOff: /^Take off /,
  hold: /^Hold( \d+)? seats?$/,
  chooseForMe: 'Choose for me',
  choose: /^Choose \d+ for me$/,
  standing: 'Standing',
  holdPlaces: /^Hold \d+ places?$/,
  phone: 'Phone number',
  password: 'Password',
  signIn: 'Sign in',
  register: 'Create an account',
  keepsChoice: 'Seats you have chosen stay chosen.',
  payInTime: 'Pay within the time',
  paymentFailed: 'The payment failed',
  processing: 'Your payment is being processed',
  paid: 'Paid',
  timedOut: 'The time ran out',
  tooLate: 'Your payment could not be used',
  cancelledByBuyer: 'You cancelled this order',
  deadline: /^Your tickets are held until \d\d:\d\d:\d\d$/,
  pay: /^Pay ¥[\d,.]+$/,
  backToCashier: 'Back to the cashier',
  cancelOrder: 'Cancel order',
  giveBack: 'Yes, cancel the order',
  giveTicketsBack: 'Give tickets back',
  refunds: 'Refunds',
  whatHappened: 'What happened',
  goOn: 'Continue',
  yesGiveBack: /^Yes, give (the ticket|\d+ tickets) back$/,
  otherLanguage: '中文',
  cashierPay: 'Pay',
  cashierFail: 'Let it fail',
  cashierBack: 'Back to the shop',
  cashierSwitches: 'Make it misbehave',
};

export const ZH_CN: Words = {
  day: '日期',
  chooseAgain: '重新选票',
  seat: { available: '，可选', locked: '，他人锁定', sold: '，已售', mine: '，您的座位' },
  takeOff: /^取消 /,
  hold: /^锁定( \d+ 个)?座位$/,
  chooseForMe: '帮我选座',
  choose: /^帮我选 \d+ 座$/,
  standing: '站席',
  holdPlaces: /^锁定 \d+ 张站席$/,
  phone: '手机号',
  password: '密码',
  signIn: '登录',
  register: '注册',
  keepsChoice: '您已选的座位会保留。',
  payInTime: '请在时限内付款',
  paymentFailed: '付款失败',
  processing: '正在处理付款',
  paid: '已付款',
  timedOut: '付款超时',
  tooLate: '付款未能用于此订单',
  cancelledByBuyer: '您已取消订单',
  deadline: /^票为您保留至 \d\d:\d\d:\d\d$/,
  pay: /^付款 ¥[\d,.]+$/,
  backToCashier: '返回收银台',
  cancelOrder: '取消订单',
  giveBack: '确认取消',
  giveTicketsBack: '退票',
  refunds: '退款记录',
  whatHappened: '订单记录',
  goOn: '继续',
  yesGiveBack: /^确认退 \d+ 张票$/,
  otherLanguage: 'English',
  cashierPay: '支付',
  cashierFail: '模拟失败',
  cashierBack: '返回商户',
  cashierSwitches: '模拟异常情况',
};
